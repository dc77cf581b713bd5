"""`grade export`: results in the formats of other tools."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.commands.console import say, writing
from grader.commands.options import NAMED_FILE, NamedFile
from grader.errors import UsageError
from grader.integrations import exports

if TYPE_CHECKING:
    from grader.integrations.exports.interface import Exported
    from grader.reports.material import Material


@click.command("export", short_help="Export results to other tools.")
@click.argument("target", metavar="TARGET")
@click.argument("run", type=NAMED_FILE, metavar="[NAME=]RESULTS")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(),
              metavar="DIR", help="Folder for the files; default: the current folder.")  # fmt: skip
@click.option("--model", default="", metavar="ID", help="The model's id, for example org/name.")
@click.option("--organization", default="", metavar="NAME", help="Who ran the evaluation.")
@click.option(
    "--dataset", default="", metavar="ORG/NAME", help="The data set on the hub; default: the benchmark's own."
)
@click.option("--task", default="", metavar="NAME", help="The task in the data set; default: the benchmark's id.")
@click.option("--project", default="", metavar="NAME", help="Project or experiment of a tracker (default: grade).")
@click.option("--reading", type=click.Choice(["careful", "official"]),
              help="Which reading to export, for targets that take only one (default: official).")  # fmt: skip
@click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="The benchmark's data, for exports that include the questions.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def export_command(
    target: str,
    run: NamedFile,
    *,
    folder: Path,
    data: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Export results to TARGET: every-eval-ever, hugging-face or lmms-eval, which write files.

    Packages add further targets by an entry point, as examples/trackers does for MLflow and Weights & Biases.
    """
    if target not in exports.names():
        raise UsageError(f"TARGET {target!r} is unknown; the targets are {', '.join(exports.names())}.")
    from grader.integrations.exports.interface import Wanted
    from grader.regrading import bundle

    ((name, report),) = options.read([run])

    def material() -> Material:
        from grader.reports import material

        return material.load_beside(run.path, report, data)

    made = exports.target(target)(
        report, name, material, Wanted(now=time.time(), bundle=bundle.of_results(run.path), **given)
    )
    written = writing(lambda: _write(made, folder))
    if not quiet:
        for path in written:
            say(f"Wrote {path}")
        if made.said:
            say(made.said)


def _write(made: Exported, folder: Path) -> list[Path]:
    from grader.files.replacing import replacing

    written = []
    for name, content in made.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
        written.append(path)
    return written
