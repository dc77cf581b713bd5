"""A benchmark is a folder with a `benchmark.toml`: what it is called, where its data is, how it is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from grader import resources
from grader.errors import InputError, UsageError
from grader.files.json_location import quoted

DEFAULT_LETTERS = "ABCD"
ScoringKind = Literal["execution", "multiple_choice", "circular", "mr_score"]


class Columns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    id: str
    question: str | None = None
    answer: str | None = None
    image: str | None = None
    hint: str | None = None
    split: str | None = None
    """A column that names the split a row belongs to."""
    group_index: str | None = None
    """Circular: a column that names the question a pass belongs to."""
    options: str | None = None
    """A column that holds the options together (a list, or letter -> text)."""
    signature: str | None = None
    tests: str | None = None
    solution: str | None = None
    groups: list[str] = []
    """Columns by which figures are broken down."""


class Split(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where one split's data is."""

    hub: str = ""
    """Data set id on the hub."""
    hub_config: str = ""
    hub_split: str = ""
    revision: str = ""
    url: str = ""
    md5: str = ""
    rows: int = 0
    """Rows of the file (0: not checked)."""
    questions: int = 0
    data: str = ""
    """A file or folder beside the benchmark.toml."""
    label: str = ""
    """What the split column says in rows of this split."""
    scored: bool = True
    """False where the answers are not public: the product is a submission file."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One named version of an official scorer, with what distinguishes it."""

    description: str = ""
    revision: str = ""
    """Revision of the data set that belongs to this protocol."""
    rows: int = 0
    k: int = 1
    """pass@k of several samples."""
    timed_out: str = ""
    failed_prefix: str = ""
    lint_prefix: str = ""
    reader: str = ""
    """Version name of the official reader (multiple choice)."""


class Derived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grouping that follows from a column."""

    source: str
    values: dict[str, str]


class Benchmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A declaration, read from benchmark.toml."""

    id: str
    name: str
    scoring: ScoringKind
    columns: Columns
    splits: dict[str, Split]
    protocols: dict[str, Protocol]
    default_split: str
    default_protocol: str
    paper: str = ""
    description: str = ""
    unit: str = "question"
    """What one id is called in messages."""
    letters: str = DEFAULT_LETTERS
    """Letters that an option can have."""
    options_in_text: bool = False
    """The options stand in the question's text as "(A) ... (B) ..."."""
    pass_stride: int = 1_000_000
    """Circular: a pass's index is the question's plus a multiple of this."""
    abbreviations: dict[str, str] = {}
    """Group value -> official abbreviation."""
    derived: dict[str, Derived] = {}
    """Name of a further grouping -> how it follows from a column."""
    weights: dict[str, float] = {}
    """Weights of a composed metric."""
    subjects: list[str] = []
    """Names of the files that hold one subject each."""
    prompt: str = ""
    baselines: bool = False
    """Report what chance and a constant letter would score."""
    folder: str = ""
    """Where the declaration was read from (set by `load`)."""

    def split(self, name: str | None) -> tuple[str, Split]:
        """Return the named split, or the default one; raises UsageError."""
        chosen = name or self.default_split
        if chosen not in self.splits:
            raise UsageError(f"{self.id} has no split {chosen!r}; it has {', '.join(self.splits)}.")
        return chosen, self.splits[chosen]

    def protocol(self, name: str | None) -> tuple[str, Protocol]:
        """Return the named protocol, or the default one; raises UsageError."""
        chosen = name or self.default_protocol
        if chosen not in self.protocols:
            raise UsageError(f"{self.id} has no protocol {chosen!r}; it has {', '.join(self.protocols)}.")
        return chosen, self.protocols[chosen]


def names() -> list[str]:
    """Return the ids of the benchmarks that came with grade."""
    return sorted(path.parent.name for path in resources.folder("benchmarks").glob("*/benchmark.toml"))


def load(reference: str) -> Benchmark:
    """Load a benchmark by id, or from a folder (a path that exists, or has a slash); raises UsageError, InputError."""
    folder = Path(reference)
    if reference in names():
        folder = resources.folder("benchmarks") / reference
    elif not (folder / "benchmark.toml").is_file():
        raise UsageError(
            f"There is no benchmark {reference!r}: it is neither one of {', '.join(names())} "
            "nor a folder with a benchmark.toml."
        )
    path = folder / "benchmark.toml"
    try:
        declaration = msgspec.toml.decode(path.read_bytes(), type=Benchmark)
    except (msgspec.DecodeError, OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: {error}"]) from error
    problem = _letters_problem(declaration.letters)
    if problem:
        raise InputError([f"{path}: {problem}"])
    return msgspec.structs.replace(declaration, folder=str(folder.resolve()))


def _letters_problem(letters: str) -> str:
    """Return what is wrong with the letters that options can have; empty: nothing."""
    twice = sorted({letter for letter in letters if letters.count(letter) > 1})
    if not letters:
        return 'letters is empty: name those that options can have (letters = "ABCD"), or leave it out for ABCD'
    if twice:
        return f"letters = {quoted(letters)}: {', '.join(twice)} stands there more than once"
    return ""
