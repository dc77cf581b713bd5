"""Where the files of a run go, and what must hold before it begins: all of it is checked before anything is graded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from grader.errors import InputError, UsageError
from grader.files.claims import Claims
from grader.files.results_file import read_report
from grader.files.run_files import results_path, stem_of
from grader.predictions.parts import in_words

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from grader.results import JudgeProvenance, Part

STANDARD_INPUT = "stdin"
"""What the files of standard input are called in a folder of their own."""


def stem_in(folder: Path | None, source: Path | None, part: Part | None = None) -> Path | None:
    """Return what the names of a run's files begin with; None: there is no place for them.

    `folder` is that of `--output-dir`; None: beside the predictions. `source` is None for standard input.
    """
    if source is None and folder is None:
        return None
    beside = stem_of(source) if source is not None else None
    name = beside.name if beside is not None else STANDARD_INPUT
    name = f"{name}_part-{part.ids_hash}" if part is not None else name
    if folder is not None:
        return folder / name
    assert beside is not None
    return beside.with_name(name)


class Destination:
    """The files that a run is going to write, held until the `with` block ends."""

    def __init__(self, *, force: bool = False, needs_whole: bool = False, inputs: tuple[Path, ...] = ()) -> None:
        self._force = force
        self._needs_whole = needs_whole
        """Whether something rests on the whole benchmark: a gate."""
        self._inputs = {path.resolve() for path in inputs}
        """Results that this run reads, and must not replace."""
        self._claims = Claims()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._claims.__exit__(kind, error, trace)

    def begin(self, stem: Path | None, part: Part | None, *, judged: bool) -> None:
        """Take the files of a run; raises UsageError where it must not begin, and says what to do.

        `judged`: whether it has a judge, or scores again what had one.
        """
        if part is not None and self._needs_whole:
            raise UsageError(
                f"This is a run of a part ({in_words(part)}), and a gate on a part says little about the whole. Grade "
                "all of it, or give --allow-part."
            )
        if stem is None:
            return
        path = results_path(stem)
        if path.resolve() in self._inputs:
            raise UsageError(
                f"{path}: this run writes its own results there, and the next one would be compared with them. Give "
                f"the baseline a name of its own: mv {path} {path.with_name('baseline_results.json')}"
            )
        _check_folder(stem.parent)
        self._claims.take(path)
        if not judged and not self._force:
            _check_unjudged(path)


def _check_folder(folder: Path) -> None:
    """Make the folder where it is missing; raises UsageError where nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: this folder cannot be made ({error.strerror}); name another with --output-dir."
        ) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder}: nothing can be written to this folder; name another with --output-dir.")


def _check_unjudged(path: Path) -> None:
    """Raise UsageError where results without a judge would replace judged ones."""
    try:
        judge = read_report(path).provenance.judge if path.is_file() else None
    except InputError:
        return  # whatever it is, no results would be lost
    if judge is not None and _has_judged(judge):
        raise UsageError(
            f"{path.name} was judged ({judge.model or judge.source}), and this run has no judge: it would replace "
            "judged results by unjudged ones. Give the same judge again, another --output-dir, or --force."
        )


def _has_judged(judge: JudgeProvenance) -> bool:
    return not judge.model or judge.questions > judge.failed
