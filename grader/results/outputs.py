"""The files that a command writes, and whether it may write them, before anything is graded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grader.errors import UsageError
from grader.files.claims import Claims
from grader.files.user_files import real_path
from grader.results.file import refuse_to_lose
from grader.results.names import path_beside, results_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Outputs:
    """All files that a command writes. Whether it may write them is decided here, before anything is graded.

    The files of a run are claimed until the `with` block ends.
    """

    def __init__(
        self,
        reports: Sequence[str] = (),
        inputs: Iterable[Path | None] = (),
        *,
        baseline: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        """Raise UsageError for a report (a file of `-o`) that cannot be written, or that would replace an input.

        `folder` is that of `--output-dir`. It is created, because reports may be in it, too. `baseline` is the results
        file of `--baseline`: the run must not replace it by its own results (`claim`).
        """
        if folder is not None:
            _ensure_writable_folder(folder)
        self.reports = tuple(reports)
        self._baseline = baseline
        self._claims = Claims()
        for name in self.reports:
            _check_report(name, self.reports)
        self.refuse_to_replace([*inputs, baseline])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._claims.close()

    def refuse_to_replace(self, files: Iterable[Path | None]) -> None:
        """Raise UsageError if a report would replace one of these files."""
        real_paths = {real_path(path) for path in files if path is not None}
        for name in self.reports:
            if name != "-" and real_path(Path(name)) in real_paths:
                raise UsageError(f"-o {name}: this run reads or writes that file itself; name another one.")

    def claim(self, stem: Path | None, source: str, *, judged: bool, scorer_file_ending: str = "") -> None:
        """Claim the files of a run, so that no other run writes them. Raises UsageError if this one must not begin.

        `source` is the name of the prediction file. `judged`: whether the run has a judge, or scores results again
        that had one. `scorer_file_ending` is the ending of the scorer's own file.
        """
        if stem is None:
            return
        path = results_path(stem)
        _ensure_writable_folder(stem.parent)
        _check_name(path)
        self.refuse_to_replace([path, path_beside(stem, scorer_file_ending) if scorer_file_ending else None])
        if self._baseline is not None and real_path(path) == real_path(self._baseline):
            raise UsageError(
                f"--baseline {self._baseline}: this run writes its own results there, and the next run would be "
                f"compared with them. Rename the baseline: mv {path} {path.with_name('baseline_results.json')}"
            )
        self._claims.take(path)
        refuse_to_lose(path, source, judged=judged)


def _check_report(name: str, reports: Sequence[str]) -> None:
    """Raise UsageError if a report cannot be written."""
    if name == "-":
        if reports.count(name) > 1:
            raise UsageError("-o - is given twice, but standard output can take only one report.")
        return
    path = real_path(Path(name))
    if path.is_dir():
        raise UsageError(f"-o {name}: this is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise UsageError(f"-o {name}: the folder {path.parent} does not exist; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"-o {name}: the folder {path.parent} is not writable; name another one.")


def _ensure_writable_folder(folder: Path) -> None:
    """Create the folder if it does not exist. Raises UsageError if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: this folder cannot be created ({error.strerror}); name another one with --output-dir."
        ) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder}: this folder is not writable; name another one with --output-dir.")


def _check_name(path: Path) -> None:
    """Raise UsageError if the file system refuses the name of the temporary file beside it, which is longer."""
    try:
        path.with_name(f".{path.name}.12345678").lstat()
    except FileNotFoundError:
        return  # the name is possible
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; rename the prediction file.") from error
