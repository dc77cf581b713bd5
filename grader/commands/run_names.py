"""`RESULTS` or `NAME=RESULTS` on a command line: a results file, and the name of its run in tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.comparison import RunName
    from grader.results import Report


class NamedFile(NamedTuple):
    """A results file, and the name that the user gave its run (empty: no name)."""

    name: str
    path: Path


class NamedFileType(click.ParamType[NamedFile]):
    """Parser for `RESULTS` or `NAME=RESULTS`. The path of an existing file may contain `=`."""

    name = "results"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NamedFile:
        """Return the name and the path; fail if the file does not exist."""
        if isinstance(value, NamedFile):
            return value
        name, mark, rest = str(value).partition("=")
        given = NamedFile("", Path(value)) if not mark or Path(value).is_file() else NamedFile(name.strip(), Path(rest))
        if given.path.is_dir():
            self.fail(f"{given.path} is a folder; name the `_results.json` in it.", param, ctx)
        if not given.path.is_file():
            self.fail(f"The file {given.path} does not exist.", param, ctx)
        return given

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete files."""
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


NAMED_FILE = NamedFileType()


def read(files: Sequence[NamedFile], *, twice: bool = False) -> list[tuple[RunName, Report]]:
    """Read the results files. Raises InputError; UsageError if one is given twice, unless `twice` allows it."""
    from grader.decisions.comparison import named
    from grader.files.results_file import read_report

    seen: set[Path] = set()
    runs = []
    for file in files:
        if file.path.resolve() in seen and not twice:
            raise UsageError(f"{file.path} is given twice.")
        seen.add(file.path.resolve())
        report = read_report(file.path)
        runs.append((named(report, str(file.path), file.name), report))
    return runs
