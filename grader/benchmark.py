"""A benchmark's declaration: the part of `benchmark.toml` that all scorers share. A scorer adds its own fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from grader.errors import UsageError


class Columns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    needed: ClassVar[tuple[str, ...]] = ("id",)
    """The fields whose columns the data must have, if they are given."""
    nested: ClassVar[tuple[str, ...]] = ()
    """The fields that may be `column.field`: a field of a column with objects."""
    gold_fields: ClassVar[tuple[str, ...]] = ()
    """The fields whose columns have gold answers: data whose answers are not public lacks them."""
    option_fields: ClassVar[tuple[str, ...]] = ()
    """The fields whose columns have all options of a question."""
    code_fields: ClassVar[tuple[str, ...]] = ()
    """The fields whose columns have the code that a model continues."""
    id: str
    numbered: bool = False
    """If the data has no id column, a row's id is its number, from 0."""
    question: str | None = None
    image: str | None = None
    split: str | None = None
    """The column that names a row's split."""
    date: str | None = None
    """The column with a row's day (2024-08-01, perhaps with a time), by which `--since` and `--until` select."""
    groups: list[str] = []
    """Columns by which metrics are broken down."""
    cluster: str | None = None
    """The column that names a task's family: variants of one task, which intervals and tests treat as one cluster."""
    cluster_pattern: str = ""
    """A regular expression for the beginning of that column; its group is the family. Empty: the whole value is."""

    def __post_init__(self) -> None:
        """Raise ValueError for a `cluster_pattern` that cannot give a task's cluster."""
        try:
            groups = re.compile(self.cluster_pattern).groups
        except re.error as error:
            raise ValueError(f"cluster_pattern is not a regular expression: {error}") from None
        if self.cluster_pattern and (groups != 1 or self.cluster is None):
            raise ValueError("cluster_pattern needs `cluster`, and one group in parentheses: the name of the family")

    def by_field(self) -> dict[str, str]:
        """Return field -> column for every column that is given; groups have their own name as the field."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "cluster_pattern"}
        single = {field: column for field, column in fields.items() if column and isinstance(column, str)}
        return single | {f"groups: {column}": column for column in self.groups}

    def names_of(self, *fields: str) -> tuple[str, ...]:
        """Return the names of the columns of these fields; a field without a column has none."""
        return tuple(column for field in fields if (column := getattr(self, field)))

    def without_effect(self) -> tuple[str, ...]:
        """Return the columns that affect no score: runs that differ in them can be compared."""
        return ()


class Answers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object with the answers to rows that have none."""

    key: str
    """The column of the data with a row's name in the object."""
    field: str = ""
    """The field of an entry that has the answer; empty: the entry is the answer."""
    url: str = ""
    md5: str = ""
    data: str = ""
    """A file beside the benchmark.toml."""


class Split(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The location of one split's data."""

    hub: str = ""
    """Data set id on the hub."""
    hub_config: str = ""
    hub_split: str = ""
    revision: str = ""
    url: str = ""
    md5: str = ""
    files_url: str = ""
    """The beginning of the addresses of `files`."""
    files: dict[str, str] = {}
    """Name -> git id (of the blob), if the data is several files of a repository."""
    rows: int = 0
    """Expected number of rows in the file (0: not checked)."""
    questions: int = 0
    data: str = ""
    """A file or folder beside the benchmark.toml."""
    label: str = ""
    """The value of the split column in rows of this split."""
    answers: Answers | None = None
    """The file with the answers, if they are not in the data."""
    scored: bool = True
    """False if the answers are not public: the result is then a submission file."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One named version of an official scorer, with its differences from other versions."""

    description: str = ""
    revision: str = ""
    """Revision of the data set for this protocol."""
    rows: int = 0
    image: str = ""
    """The image column, if it is not `columns.image`."""


_IRRELEVANT_TO_VERDICTS = frozenset(
    ("description", "revision", "rows", "image", "k", "prompt", "judge_prompt", "baselines", "subjects", "requirements")
)
"""Fields of protocols and of scorers' declarations that change no verdict, or are known from other records of a run:
another `revision`, or other `subjects`, are other data, which have a digest."""


def _as_read_again(value: object) -> Any:
    """Return a value as a results file gives it back: a list in place of a tuple, for example."""
    return msgspec.json.decode(msgspec.json.encode(value))


class Inference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `grade infer` asks; settings not given here are the scorer's."""

    prompt: str = ""
    """A jinja2 template."""
    temperature: float | msgspec.UnsetType = msgspec.UNSET
    """Used for one sample per task."""
    temperature_of_several: float | msgspec.UnsetType = msgspec.UNSET
    """Used for several samples per task."""
    top_p: float | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET

    def declared_settings(self) -> dict[str, float]:
        """Return the sampling settings that the declaration has."""
        names = ("temperature", "temperature_of_several", "top_p", "max_tokens")
        return {name: value for name in names if (value := getattr(self, name)) is not msgspec.UNSET}


class Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a prediction file has what is graded. A path such as `results.items` leads through objects and lists."""

    at: str = ""
    """The records, in a file that is one object."""
    id: str = ""
    """The id in a record; empty: the record's name in an object of records, else its position, counted from 0. `#`:
    always its position."""
    reply: str = ""
    """The model's reply, or a list of replies; empty: the record itself."""
    code: str = ""
    """In place of `reply`: a program, or a list of programs."""

    def __post_init__(self) -> None:
        """Raise ValueError if both `reply` and `code` say where the text is."""
        if self.reply and self.code:
            raise ValueError("name `reply` or `code`, not both")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of one scorer, which adds its own fields. Runs with different settings are not compared."""


class DerivedGrouping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grouping that is computed from a column."""

    source: str
    """The column."""
    values: dict[str, str]
    """Value -> label."""
    otherwise: str = ""
    """The label of all other values; empty: they have none."""

    def labels(self) -> list[str]:
        """Return the labels, each once."""
        return distinct(*self.values.values(), self.otherwise)


class TaskSets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How tasks form sets: those with the same values of `columns` and of the pattern's groups, or adjacent rows."""

    columns: list[str] = []
    id_pattern: str = ""
    """A regular expression for the beginning of an id."""
    rows: int = 0
    """The number of adjacent rows that are a set."""

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid pattern, one without a group, and for sets of one task."""
        try:
            has_groups = re.compile(self.id_pattern).groups > 0
        except re.error as error:
            raise ValueError(f"id_pattern is not a regular expression: {error}") from None
        forms_sets = has_groups or (not self.id_pattern and (bool(self.columns) or self.rows > 1))
        if not forms_sets:
            raise ValueError("name `columns`, an `id_pattern` with groups in parentheses, or `rows` (2 or more)")


class Benchmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A declaration, read from benchmark.toml."""

    id: str
    name: str
    scoring: str
    """Name of the scorer."""
    columns: Columns
    splits: dict[str, Split]
    protocols: Mapping[str, Protocol]
    default_split: str
    default_protocol: str
    paper: str = ""
    """For readers of the file only."""
    description: str = ""
    """What the tasks ask, for a reader who does not know the benchmark."""
    unit: str = "question"
    """The word for one id in messages."""
    id_pattern: str = ""
    """A regular expression for the ids, used only to suggest the benchmark to users who forgot to name it."""
    inference: Inference = Inference()
    predictions: Fields | None = None
    """Where prediction files have what is graded, if no known tool writes them."""
    derived: dict[str, DerivedGrouping] = {}
    """Name of an additional grouping -> how it is computed from a column."""
    together: dict[str, TaskSets] = {}
    """Name -> tasks that count only if all of them are right (`NAME_accuracy`)."""
    answer_between: tuple[str, str] | None = None
    """The two marks that the prompt wants around the answer (`["{", "}"]`). Careful reads the last text between
    them; if there is none, it reads the reply as usual."""
    mean_over: str | list[str] = []
    """A grouping whose labels have the same weight in the main metric, which is the mean over them. Of several
    groupings, each is within the one before."""
    f1_of: tuple[str, str] | None = None
    """Two groups (`field=label`): the main metric is the harmonic mean of their accuracies."""
    settings: Settings = Settings()
    """The scorer's own settings. Those that are not the scorer's defaults are recorded in the results."""
    also_named: dict[str, str] = {}
    """Column -> another name of it in copies of the data."""
    other_versions: dict[str, list[str]] = {}
    """Another version of the data -> ids that only it has: a file with them answers that version."""
    abbreviations: dict[str, str] = {}
    """Group value -> official abbreviation."""
    folder: str = ""
    """The folder of the declaration (set by `load`)."""
    bundled: bool = False
    """Whether it is bundled with grade (set by `load`)."""

    @property
    def id_or_folder(self) -> str:
        """Its id, or its folder if it is not bundled; with either, a command finds it."""
        return self.id if self.bundled or not self.folder else self.folder

    @property
    def levels(self) -> list[str]:
        """The groupings of `mean_over`, from the outermost."""
        return [self.mean_over] if isinstance(self.mean_over, str) else self.mean_over

    @property
    def main_groupings(self) -> set[str]:
        """The groupings that the main metric needs: those of `mean_over`, and the fields of `f1_of`."""
        return {*self.levels, *(group.partition("=")[0] for group in self.f1_of or ())}

    def settings_in(self, protocol: str) -> dict[str, Any]:
        """Return what results record of a declaration: the scorer's settings, and `declared` if it is not bundled.

        `declared` has the fields that can change a verdict, of the protocol and of the scorer's own declaration. A
        bundled declaration is known by its name.
        """
        settings: dict[str, Any] = _as_read_again(self.settings)
        if self.bundled:
            return settings
        common = set(Benchmark.__struct_fields__) - {"answer_between"}
        declared = {
            field.name: _as_read_again(value)
            for rules, known in (
                (self.protocols[protocol], _IRRELEVANT_TO_VERDICTS),
                (self, _IRRELEVANT_TO_VERDICTS | common),
            )
            for field in msgspec.structs.fields(rules)
            if field.name not in known and (value := getattr(rules, field.name)) != field.default
        }
        return settings | ({"declared": declared} if declared else {})

    def split(self, name: str | None) -> tuple[str, Split]:
        """Return the name and the data of the named split, or of the default one; raises UsageError."""
        chosen = name or self.default_split
        if chosen not in self.splits:
            raise UsageError(f"{self.id} has no split {chosen!r}; it has {', '.join(self.splits)}.")
        return chosen, self.splits[chosen]

    def image_column(self, protocol: str) -> str | None:
        """Return the name of the column with the images in the data of a protocol."""
        return self.protocols[self.resolve_protocol(protocol)].image or self.columns.image

    def required_packages(self) -> str:
        """Return the packages that programs may import, as the text of a requirements file; raises InputError."""
        return ""

    @property
    def python(self) -> str:
        """The Python version in which the default protocol runs programs; empty: any."""
        return ""

    def problem(self) -> str:
        """Return what is wrong with the declaration; empty if it is valid."""
        return ""

    def scored_columns(self, split: str) -> list[str] | None:
        """Return the columns that scoring reads in the data of a split; None: all but the image."""
        del split
        return None

    def resolve_protocol(self, name: str | None) -> str:
        """Return the name of the protocol, or of the default one; raises UsageError."""
        chosen = name or self.default_protocol
        if chosen not in self.protocols:
            raise UsageError(f"{self.id} has no protocol {chosen!r}; it has {', '.join(self.protocols)}.")
        return chosen


def distinct(*columns: str | None) -> list[str]:
    """Return the columns that have a name, each once."""
    return list(dict.fromkeys(filter(None, columns)))
