"""The settings of a pool: what it grades and how. The clients and the process that grades use the same ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import msgspec

from grader.errors import UsageError
from grader.options import Options, from_arguments, parse_size
from grader.pool import messages
from grader.pool.messages import Found, Grade, Refused
from grader.resources import version
from grader.scorers.asking import Asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.results import SampleResult

    Sample = tuple[str, str] | tuple[Mapping[str, Any], str] | Mapping[str, Any]
    """(task id, raw output), (row with a task, raw output), or a mapping with `text` and the fields of `_Fields`."""

OF_A_RUN = (
    *("k", "score_only", "limit", "ids", "since", "until", "missing", "output_dir", "force"),
    "executor",
)
"""Options for a run over a prediction file; a pool does not accept them."""


ROWS = Path(__file__).with_name("rows")
"""The declaration of a benchmark without tasks: every sample brings a row with its task."""


RewardName = Literal["passed", "calls_right", "tests_right"]


class PoolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings that identify a pool."""

    options: Options
    shared: str = ""
    """Empty: a user's pools with equal settings share one process per node. A private pool has a unique name here."""
    linger: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 10.0
    """Seconds that the process stays after the last client has disconnected."""
    rounds: bool = False
    """Whether no program of any call is alive while a test runs."""
    reward: RewardName = "passed"
    """What a result is worth as a reward."""

    @property
    def name(self) -> str:
        """A hash of all settings: the name of the socket."""
        encoded = msgspec.json.encode(self, enc_hook=str, order="deterministic")
        return hashlib.sha256(version().encode() + encoded).hexdigest()[:20]


def settings_of(arguments: dict[str, Any], **own: Any) -> PoolSettings:
    """Return the settings for a pool's keywords; `own`: the fields of `PoolSettings`. Raises UsageError."""
    for name in OF_A_RUN:
        if name in arguments:
            raise UsageError(f"Pool(): {name} is an option of a run over a prediction file; leave it out.")
    if (reward := own.get("reward", "passed")) not in get_args(RewardName):
        raise UsageError(f"reward: expected {', '.join(get_args(RewardName))}, not {reward!r}")
    unknown = arguments.keys() - set(Options.__struct_fields__)
    if unknown:
        known = ", ".join(field for field in Options.__struct_fields__ if field not in OF_A_RUN)
        raise UsageError(f"Pool() has no option {sorted(unknown)[0]!r}; it has {known}.")
    options = from_arguments({"cache": "memory"} | arguments)
    # The grading process has another working directory, so paths must be absolute.
    paths = {
        name: path.resolve() for name in ("data", "judge_replies", "judge_prompt") if (path := getattr(options, name))
    }
    folder = ROWS if options.benchmark == ROWS.name else Path(options.benchmark)
    if folder.is_dir():
        paths["benchmark"] = str(folder.resolve())
    options = msgspec.structs.replace(options, **paths)
    try:
        return msgspec.convert({"options": options, **own}, PoolSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"Pool(): {error}") from None


def encode(settings: PoolSettings) -> bytes:
    """Encode settings for the process that grades."""
    return msgspec.json.encode(settings, enc_hook=str)


def decode(data: bytes) -> PoolSettings:
    """Decode settings encoded by `encode`."""
    return msgspec.json.decode(data, type=PoolSettings, dec_hook=lambda kind, value: kind(value))


class Given(NamedTuple):
    """The samples of a call, and the rows that some of them bring, by name."""

    samples: list[Asked]
    rows: dict[str, bytes]


def given_of(samples: Iterable[Sample], *, official: bool, added: Mapping[str, bytes]) -> Given:
    """Return the samples of a call. `added`: task id -> its row. Raises UsageError, which names the sample's number."""
    batch = Given([], {})
    for number, sample in enumerate(samples):
        try:
            request, row = _asked(sample, official=official, added=added)
        except (ValueError, TypeError, UsageError) as error:
            raise UsageError(f"samples[{number}]: {error}") from None
        if row is not None:
            request = msgspec.structs.replace(request, row=hashlib.sha256(row).hexdigest()[:20])
            batch.rows[request.row] = row
        batch.samples.append(request)
    return batch


def row_of(row: Mapping[str, Any]) -> bytes:
    """Return a row as JSON; raises ValueError for a value that JSON does not have. Arrays become lists."""
    try:
        return json.dumps(_plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its row cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Return a value with mappings, sequences and arrays as dictionaries and lists."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        if others := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"the key {others[0]!r:.80} is not a text")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise ValueError(f"it has a value of type {type(value).__name__}")


def _asked(sample: Any, *, official: bool, added: Mapping[str, bytes]) -> tuple[Asked, bytes | None]:
    if isinstance(sample, Mapping):
        rest = dict(sample)
        row, fields = rest.pop("row", None), msgspec.convert(rest, _Fields, strict=True)
    elif isinstance(sample, tuple | list) and len(sample) == 2 and isinstance(sample[1], str):
        is_row = isinstance(sample[0], Mapping)
        row, fields = (sample[0] if is_row else None), _Fields(text=sample[1], qid="" if is_row else str(sample[0]))
    else:
        raise ValueError(f"expected (qid, raw output), (row, raw output) or a mapping, not {sample!r:.80}")
    if row is not None and not isinstance(row, Mapping):
        raise ValueError(f"its row is {row!r:.80}, not a mapping of columns")
    qid = str(fields.qid)
    if row is not None and not qid:
        qid = str(next((row[name] for name in IDS if name in row), "row"))
    data, refused = added.get(qid), ""
    if row is not None:
        try:
            data = row_of(row)
        except ValueError as error:
            data, refused = None, str(error)
    # Half a surrogate pair is not a character: it could not be sent or written.
    text = fields.text.encode("utf-8", "replace").decode()
    memory = parse_size(fields.memory) if isinstance(fields.memory, str) else fields.memory
    own = {"qid": qid, "text": text, "official": official or fields.official, "memory": memory, "refused": refused}
    return Asked(**msgspec.structs.asdict(fields) | own), data


IDS = ("qid", "task_id", "question_id", "problem_id", "id")
"""Columns whose value names a sample that brings a row and no id."""


class _Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sample given as a mapping, besides its row."""

    text: str
    qid: str | int = ""
    official: bool = False
    timeout: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    memory: Annotated[int, msgspec.Meta(ge=0)] | str = 0
    wall: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    wait: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    verbatim: bool = False
    printed: bool = False
    each: bool = False


class Exchange:
    """Collects the results of samples; lost ones can be requested again."""

    def __init__(self, given: Given) -> None:
        self._asked, self._rows = given
        self._results: list[SampleResult | None] = [None] * len(self._asked)
        self._sent: list[int] = []
        counts = Counter[str]()
        self._numbers = [(counts[one.qid], counts.update([one.qid]))[0] for one in self._asked]

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a result."""
        return None not in self._results

    def request(self, seconds: float) -> bytes:
        """Return the request message for all samples without a result."""
        self._sent = [place for place, result in enumerate(self._results) if result is None]
        samples = [self._asked[place] for place in self._sent]
        rows = {sample.row: msgspec.Raw(self._rows[sample.row]) for sample in samples if sample.row}
        return messages.frame(Grade(samples=samples, seconds=seconds, rows=rows))

    def take(self, reply: messages.Reply) -> tuple[int, SampleResult]:
        """Process a reply and return a result with its place.

        Raises a GradeError if the pool refused the request, ConnectionError if the reply is invalid.
        """
        match reply:
            case Found(place=place, result=result) if 0 <= place < len(self._sent):
                return self._keep(self._sent[place], result)
            case Refused() as refused:
                raise messages.error_of(refused)
            case _:
                raise ConnectionError("the reply does not match the request")

    def _keep(self, place: int, result: SampleResult) -> tuple[int, SampleResult]:
        made = self._results[place] = msgspec.structs.replace(result, sample=self._numbers[place])
        return place, made

    def give_up(self, why: str) -> Iterator[tuple[int, SampleResult]]:
        """Yield a result for each sample without one: it is unscored, with `why` as the detail."""
        for place, (sample, result) in enumerate(zip(self._asked, self._results, strict=True)):
            if result is None:
                yield self._keep(place, messages.unscored(sample, why))
