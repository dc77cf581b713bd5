"""Read inspect_ai logs as predictions: `.eval` archives and `.json` logs.

A sample's `id` is the qid, and its text is the model's final output (`output.completion`). The epochs of a sample are
its predictions, in order. A sample's error is stored beside its text, so that it is recognised as an error.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from grader.predictions.record import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNPACKED_LIMIT = 2 << 30
"""Maximum unpacked size of a log's samples, in bytes: a few kilobytes of zip can claim terabytes."""
_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = "samples/"
_ATTACHMENT = "attachment://"
_FINISHED = "success"


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] = ""


class _Choice(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)
    stop_reason: str | None = None


class _Output(msgspec.Struct):
    model: str = ""
    completion: str | None = None
    choices: list[_Choice] = []
    error: str | None = None


class _Error(msgspec.Struct):
    message: str = ""


class _Sample(msgspec.Struct):
    id: int | str
    epoch: int = 1
    input: str | list[_Message] = ""
    choices: list[str] | None = None
    target: str | list[str] = ""
    output: _Output = msgspec.field(default_factory=_Output)
    error: _Error | None = None
    attachments: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The model's final output."""
        found = self.output.completion
        if found is None:
            found = _text(self.output.choices[0].message.content) if self.output.choices else ""
        return self._whole(found)

    @property
    def doc(self) -> Row:
        """The task that the sample answers."""
        texts = [self.input] if isinstance(self.input, str) else [_text(part.content) for part in self.input]
        several = isinstance(self.target, list) and len(self.target) != 1
        target = self.target if several or isinstance(self.target, str) else self.target[0]
        return {"question": "\n".join(map(self._whole, texts)), "options": self.choices, "answer": target}

    def _whole(self, text: str) -> str:
        """Return a text that may be stored as an attachment."""
        return self.attachments.get(text.removeprefix(_ATTACHMENT), text) if text.startswith(_ATTACHMENT) else text

    @property
    def stop_reason(self) -> str:
        """Why the model stopped."""
        return (self.output.choices[0].stop_reason or "") if self.output.choices else ""

    @property
    def trouble(self) -> str:
        """The sample's error; empty if there is none."""
        return self.output.error or (self.error.message if self.error else "")


class _Eval(msgspec.Struct):
    model: str = ""


class _Header(msgspec.Struct):
    status: str = ""
    eval: _Eval = msgspec.field(default_factory=_Eval)


class _Log(_Header):
    samples: list[_Sample] | None = None


class LogError(Exception):
    """Raised for a log that cannot be read; the message says why."""


class InspectLog(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a log, as records of a prediction file."""

    rows: list[Row]
    warnings: list[str] = []


def is_archive(data: bytes) -> bool:
    """Whether bytes are an `.eval` archive, and not another kind of zip."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    return any(name.encode() in data[:512] or name.encode() in data[-(1 << 20) :] for name in _HEADERS)


def is_log(value: Row) -> bool:
    """Whether an object is a `.json` log."""
    return {"eval", "status", "version"} <= value.keys() and isinstance(value.get("eval"), dict)


def read_archive(data: bytes) -> InspectLog:
    """Read an `.eval` archive; raises LogError."""
    try:
        with _zipfile().ZipFile(io.BytesIO(data)) as archive:
            head, samples = _unpacked(archive)
    except LogError:
        raise
    except Exception as error:  # zipfile and zstd raise many kinds of errors on damaged archives
        reason = str(error) or type(error).__name__
        raise LogError(f"is not a readable inspect_ai log ({reason}); was it cut off?") from error
    return _log(head, samples)


def _unpacked(archive: Any) -> tuple[_Header, list[_Sample]]:
    names = archive.namelist()
    wanted = [name for name in dict.fromkeys(names) if name.startswith(_SAMPLES) and name.endswith(".json")]
    if sum(archive.getinfo(name).file_size for name in wanted) > UNPACKED_LIMIT:
        raise LogError(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
    header = next(name for name in _HEADERS if name in names)
    head = msgspec.json.decode(archive.read(header), type=_Header)
    return head, [msgspec.json.decode(archive.read(name), type=_Sample) for name in wanted]


def read_object(value: Row) -> InspectLog:
    """Read a `.json` log; raises LogError."""
    try:
        found = msgspec.convert(value, type=_Log)
    except msgspec.ValidationError as error:
        raise LogError(f"is not a readable inspect_ai log ({error})") from error
    return _log(found, found.samples or [])


def _zipfile() -> Any:
    """Return a zipfile module that supports zstd, the compression of inspect_ai."""
    if sys.version_info >= (3, 14):
        import zipfile

        return zipfile
    from backports.zstd import zipfile as with_zstd

    return with_zstd


def _log(header: _Header, samples: Iterable[_Sample]) -> InspectLog:
    rows = list(_rows(samples, header.eval.model))
    if not rows:
        raise LogError("is an inspect_ai log without samples; it was written with --no-log-samples, or nothing ran")
    warning = f"the inspect_ai log is from a run that did not finish (status {header.status or 'started'})"
    return InspectLog(rows=rows, warnings=[] if header.status == _FINISHED else [warning])


def _rows(samples: Iterable[_Sample], model: str) -> Iterator[Row]:
    """Yield one record per id and task: the epochs are its predictions, and they may have options in other orders."""
    found: dict[tuple[str, bytes], dict[int, _Sample]] = {}
    for sample in samples:
        found.setdefault((str(sample.id), msgspec.json.encode(sample.doc)), {})[sample.epoch] = sample
    for (qid, _), epochs in found.items():
        ordered = [epochs[number] for number in sorted(epochs)]
        row: Row = {"qid": qid, "predictions": [sample.text for sample in ordered], "model": model}
        row["doc"] = ordered[0].doc
        row["finish_reasons"] = [sample.stop_reason for sample in ordered]
        if any(sample.trouble for sample in ordered):
            row["errors"] = [sample.trouble for sample in ordered]
        yield row


def _text(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a message: its parts joined by line breaks, without reasoning."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
