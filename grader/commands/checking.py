"""`grade bundle` and `grade verify`: a published result, and the check of one by grading some samples again."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options, output_files
from grader.commands.console import say
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.results import Report


def _as_json(_: click.Context, __: click.Parameter, output: str | None) -> str | None:
    if output not in (None, "-") and not output.lower().endswith(".json"):
        raise UsageError(f"-o {output}: this is written as .json, or to `-` (standard output).")
    return output


_GIVEN = click.Path(path_type=Path, exists=True, dir_okay=False)
_OUTPUT = click.option("-o", "--output", type=options.FILE, metavar="FILE", callback=_as_json,
                       help="Also write JSON here, or to `-`.")  # fmt: skip
_PREDICTIONS = click.option("--predictions", type=_GIVEN, metavar="FILE",
                            help="The prediction file, if it is not beside RESULTS.")  # fmt: skip
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Only errors and the last line.")


@click.command("bundle", short_help="Pack a result into one file that others can verify.")
@click.argument("results", type=_GIVEN, metavar="RESULTS")
@options.BENCHMARK
@_PREDICTIONS
@click.option("--judge-replies", type=_GIVEN, metavar="FILE", help="The recorded replies of the run's judge.")
@click.option("-o", "--output", type=options.PATH, metavar="FILE", help="Default: <stem>_bundle.zip beside RESULTS.")
def bundle_command(
    results: Path, *, benchmark: str | None, predictions: Path | None, judge_replies: Path | None, output: Path | None
) -> None:
    """Pack the predictions, verdicts, versions and data digests of RESULTS into one file.

    Publish the digest that is printed with your result. `grade verify` then needs only the bundle and the data.
    """
    from grader.regrading import bundle
    from grader.results.destination import beside
    from grader.scorers.earlier import read_report

    report = read_report(results)
    predictions = _predictions_of(results, report, predictions)
    output = output or beside(results.with_name(results.stem.removesuffix("_results")), bundle.ENDING)
    output_files.check_places([str(output)], [results, predictions, judge_replies])
    archive = bundle.make(results, predictions, judge_replies, bundle.declared_for(report, benchmark))
    output_files.put_all([(str(output), archive)], quiet=False)
    if report.provenance.judge is not None and judge_replies is None:
        say("The run had a judge: without --judge-replies, others can check it only if they have its replies.")
    say(f"Digest, to be published with the result: {bundle.digest_of(archive)}")


@click.command(
    "verify",
    short_help="Check somebody else's result by grading a part again.",
    epilog="Exit codes: 0 = all drawn verdicts are the same; 1 = some are not, or the bundle was changed; "
    "2 = bad input, such as other data; 3 = some samples got no verdict.",
)
@click.argument("bundle_file", type=_GIVEN, metavar="BUNDLE")
@click.option("--digest", metavar="D", help="The digest that was published with the result.")
@click.option("--sample", "count", type=options.WholeNumber(min=1), default=200, show_default=True, metavar="N",
              help="Number of verdicts to reach again.")  # fmt: skip
@click.option("--seed", required=True, metavar="TEXT",
              help="Decides which verdicts are drawn: any text that nobody knew when the bundle was made.")  # fmt: skip
@options.BENCHMARK
@click.option("--data", type=options.PATH, metavar="PATH", help="Local copy of the data.")
@options.machine_options
@click.option("--judge-replies", type=_GIVEN, metavar="FILE", help="Recorded judge replies, if the bundle has none.")
@_OUTPUT
@_QUIET
def verify_command(
    bundle_file: Path,
    *,
    digest: str | None,
    count: int,
    seed: str,
    benchmark: str | None,
    judge_replies: Path | None,
    output: str | None,
    quiet: bool,
    **given: Any,
) -> int:
    """Draw N verdicts of a BUNDLE by its digest and TEXT, reach them again, and bound how many of all are wrong."""
    from grader.commands.progress import watcher
    from grader.regrading import bundle
    from grader.regrading.again import options_of
    from grader.regrading.verification import in_words, verify

    if not seed.strip():
        raise UsageError("--seed is empty. Give a text that nobody knew when the bundle was made.")
    output_files.check_places([] if output is None else [output], [bundle_file, given["data"]])
    read = bundle.read(bundle_file, digest)
    with _replies(judge_replies, read.replies) as replies, watcher(quiet=quiet) as observer:
        run_options = options_of(read.report, **_of(read.report, benchmark, given), judge_replies=replies)
        verification = verify(read, run_options, observer, seed=seed, count=count, is_published=digest is not None)
    for line in in_words(verification)[-1 if quiet else 0 :]:
        say(line)
    _put(output, verification, quiet=quiet)
    return 1 if verification.wrong else 3 if verification.lost else 0


def _of(report: Report, benchmark: str | None, given: dict[str, Any]) -> dict[str, Any]:
    from grader.scorers.declarations import id_or_folder

    return given | {"benchmark": id_or_folder(report, benchmark)}


def _predictions_of(results: Path, report: Report, given: Path | None) -> Path:
    """Return the prediction file of a run. Raises UsageError if it is not beside the results."""
    from grader.reports import material

    if (path := given or material.beside(results, report).predictions) is not None:
        return path
    name = report.provenance.predictions or "The prediction file"
    raise UsageError(f"{name} is not beside {results}; name it with --predictions FILE.")


@contextlib.contextmanager
def _replies(given: Path | None, packed: bytes | None) -> Iterator[Path | None]:
    """Yield the file of recorded judge replies; the given one goes before that of the bundle."""
    with tempfile.TemporaryDirectory(prefix="grade-verify-") as folder:
        path = Path(folder, "judge_replies.json")
        if packed is not None:
            path.write_bytes(packed)
        yield given or (path if packed is not None else None)


def _put(output: str | None, result: Any, *, quiet: bool) -> None:
    import msgspec

    if output is not None:
        output_files.put_all([(output, msgspec.json.format(msgspec.json.encode(result)) + b"\n")], quiet=quiet)
