"""`<stem>_requests.jsonl`: every outcome is on disk before it is used; only one run writes at a time.

The log is read once, at the start. What stays in memory of a line is its offset in the file.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader.errors import InputError, UsageError
from grader.files.claims import Claims
from grader.models.model import RequestRecord
from grader.models.replies import Usage
from grader.predictions.file import Ending

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path
    from typing import BinaryIO

    from grader.inference.plan import Conversation, Key, Step


class Log:
    """The outcomes of a run and of the runs before it. `append` may be called from many threads.

    An incomplete line of a killed run is removed: it was never used. A whole record without an end of line, as an
    editor may leave it, is kept. `on_reply` is called with each reply of earlier runs. With `fresh`, an earlier
    file is not read, and gets another name. With `writes=False`, the file is neither locked nor changed nor renamed.
    """

    def __init__(
        self,
        path: Path,
        *,
        fresh: bool = False,
        writes: bool = True,
        on_reply: Callable[[Log, RequestRecord], object] = lambda _log, _record: None,
    ) -> None:
        self.path = path
        self.backup_path: Path | None = None
        """The new path of the earlier file, with `fresh`."""
        self.failures: dict[Key, str] = {}
        """Why requests failed that have no reply since then; the last failure comes last."""
        self.truncated: set[Key] = set()
        """Requests whose reply the token limit cut."""
        self.usage = Usage()
        """Tokens of all requests, including earlier runs."""
        self._offsets: dict[Key, int] = {}
        """Where the line of a reply begins, in bytes."""
        self._lock = threading.Lock()
        self._claims = Claims()
        self._reader: BinaryIO | None = None
        self._writer: FileIO | None = None
        self._end = 0
        """Where the last complete line ends, in bytes."""
        self._write_error: OSError | None = None
        """The first error of `append`, which each later call raises again: after it, nothing is written."""
        try:
            if writes:
                self._claim(fresh=fresh)
                self._writer = self._open_writer()
            # With `fresh`, the earlier file was moved away by `_claim`, or it stays here because nothing is written.
            is_earlier_file_ignored = fresh and not writes
            lacks_line_end = False
            if path.is_file() and not is_earlier_file_ignored:
                self._reader = path.open("rb")
                lacks_line_end = self._read(self._reader, on_reply)
            if self._writer is not None:
                # Remove the line that a killed run left incomplete.
                os.ftruncate(self._writer.fileno(), self._end)
                if lacks_line_end:
                    self._write(self._writer, b"\n")
                    self._end += 1
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __contains__(self, key: object) -> bool:
        """Whether a request has a reply."""
        return key in self._offsets

    def reply(self, key: Key) -> RequestRecord:
        """Return the record of a request that has a reply."""
        with self._lock:
            assert self._reader is not None
            self._reader.seek(self._offsets[key])
            return _RECORD.decode(self._reader.readline())

    def missing(self, conversation: Conversation) -> list[Step]:
        """Return the steps that have no reply yet."""
        return [step for step in conversation.steps if conversation.key(step) not in self]

    def append(self, record: RequestRecord) -> None:
        """Write a record; return when it is on disk. Raises OSError. Nothing is written after `close`."""
        line = msgspec.json.encode(record) + b"\n"
        with self._lock:
            if self._write_error is not None:
                raise self._write_error
            if self._writer is None:
                return
            try:
                self._write(self._writer, line)
            except OSError as error:
                self._write_error = error
                with contextlib.suppress(OSError):
                    os.ftruncate(self._writer.fileno(), self._end)
                raise
            self._remember(record, self._end)
            self._end += len(line)

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._lock:
            for file in (self._reader, self._writer):
                if file is not None:
                    file.close()
            self._reader = self._writer = None
            self._claims.close()

    def _write(self, file: FileIO, line: bytes) -> None:
        """Write a line, of which one call may write only a part; return when it is on disk."""
        unwritten = memoryview(line)
        while unwritten:
            unwritten = unwritten[file.write(unwritten) or 0 :]
        os.fsync(file.fileno())

    def _remember(self, record: RequestRecord, offset: int) -> None:
        """Note where a reply stands, or why a request failed. Of several replies to a request, the first counts.

        A request that had a reply has not failed, whatever is logged of it before or behind the reply.
        """
        key = record.qid, record.sample, record.stage
        self.usage += record.usage
        self.failures.pop(key, None)
        if key in self._offsets:
            return
        if record.content is None:
            self.failures[key] = record.error or ""
        else:
            self._offsets[key] = offset
            if Ending(finish_reason=record.finish_reason).is_cut:
                self.truncated.add(key)

    def _claim(self, *, fresh: bool) -> None:
        try:
            self._claims.take(self.path)
        except UsageError:
            raise UsageError(
                f"Another run is writing {self.path}. Wait until it has ended, or give this run another -o."
            ) from None
        if fresh and self.path.is_file() and self.path.stat().st_size:
            self.backup_path = unused_backup_path(self.path)
            self.path.rename(self.backup_path)

    def _open_writer(self) -> FileIO:
        try:
            return self.path.open("ab", buffering=0)
        except OSError as error:
            raise UsageError(f"-o: {self.path} cannot be written: {error.strerror}.") from error

    def _read(self, file: BinaryIO, on_reply: Callable[[Log, RequestRecord], object]) -> bool:
        """Read the records of earlier runs; return whether the last one has no end of line.

        An incomplete last line is not a record.
        """
        has_line_end = True
        file.seek(0)
        for number, line in enumerate(iter(file.readline, b""), 1):
            has_line_end = line.endswith(b"\n")
            try:
                record = _RECORD.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                if not has_line_end:
                    return False
                raise InputError(
                    [f"{self.path}:{number}: not a record of `grade infer` ({error}); fix it, or use --fresh"]
                ) from error
            self._remember(record, self._end)
            self._end += len(line)
            if record.content is not None:
                on_reply(self, record)
                # `on_reply` may have read earlier replies with this file.
                file.seek(self._end)
        return not has_line_end


_RECORD = msgspec.json.Decoder(RequestRecord)


def unused_backup_path(path: Path) -> Path:
    """Return an unused name beside `path`: `<stem>_old-1<suffix>`, ..."""
    for number in range(1, 10_000):
        name = path.with_name(f"{path.stem}_old-{number}{path.suffix}")
        if not name.exists():
            return name
    raise UsageError(f"{path.parent}: there are too many old files; remove some of {path.stem}_old-*.")
