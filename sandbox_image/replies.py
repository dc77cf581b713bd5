"""The tests' side of a call: convert a candidate's answer to a value or an exception, and to nothing else."""

from __future__ import annotations

import crossing
import opaque
import receiving
import standing_in
from heap import Heap
from instances import MalformedError
from standing_in import Proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from standing_in import CallBack
    from vacuous import Guard


class Broken:
    """Remembers the first reason why nothing can be confirmed, because the tests may catch the exception."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def note(self, error: BaseException) -> BaseException:
        """Store the first reason; return it."""
        if self.error is None:
            self.error = error
        return self.error


class Replies:
    """Decodes the answers of one candidate, reply by reply."""

    def __init__(self, classes: dict[str, type[Any]], broken: Broken, guard: Guard, call_back: CallBack) -> None:
        """`classes`: name -> class of the signature. `guard`: against comparisons that are always true (vacuous.py).

        `call_back(stub, args, kwargs)` calls a function that the candidate has returned.
        """
        self.classes = classes
        self.labels = {kind: name for name, kind in classes.items()}
        self.ours, self.theirs = Heap("t", by_value=True), Heap("a", by_value=False)
        self.tested: dict[str, Any] = {}
        """Name -> substitute of a class that the candidate must write, to be filled in."""
        self.makers = _Makers(broken, guard, call_back, self.tested)
        self._guard = guard

    def decode(self, nodes: Any) -> receiving.Decoder:
        """Return a decoder of a reply's nodes; its objects then count as sent."""
        known = {"t": self.ours.objects, "a": self.theirs.objects}
        decoder = receiving.Decoder(nodes, self.classes, known, self.makers)
        decoder.plain = self._guard.plain if self._guard.suspicious else None
        decoder.decode_all()
        self.theirs.add(decoder.built, nodes)
        self._guard.examine([value for value in decoder.built if not opaque.is_object(value)])
        return decoder

    def load(self, data: str | bytes) -> dict[str, Any]:
        """Decode a message of the candidate."""
        return self._guard.load(data)

    def take(self, reply: dict[str, Any]) -> tuple[str, Any]:
        """Apply the changes that a call made; return ("v", value) or ("e", exception)."""
        if "u" in reply:
            what = str(reply["u"])[:200]
            raise crossing.UnconfirmedError(f"the candidate returned what cannot be serialized: {what}")
        try:
            decoder = self.decode(reply.get("n"))
            how = "e" if "e" in reply else "v"
            result = decoder.value(reply[how])
            self._guard.items.came(decoder.built, result)
            self._guard.printed(reply.get("p"))
            for tag, number, node in reply["m"]:
                heap = {"t": self.ours, "a": self.theirs}[tag]
                heap.check_change(number, node)
                decoder.fill(heap.objects[number], node)
                heap.look(number)
                self._guard.changed(heap.objects[number], came=heap is self.theirs)
                self._guard.items.came([heap.objects[number]], None)
            # Arguments for the candidate to fill are answers as well.
            self._guard.items.came([value for value in self.ours.objects if _is_empty(value)], None)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise MalformedError(str(error)[:200]) from None
        return how, result

    def forget(self, numbers: Iterable[int]) -> None:
        """Release objects that the tests no longer use: all received ones, and these of their own."""
        self.theirs.forget_all()
        self.ours.forget(numbers)


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, dict, set)) and not value


def delivered(how: str, result: Any, guard: Guard) -> Any:
    """Return an answer's value, or raise its exception."""
    if how == "v":
        return result
    if not (isinstance(result, Exception) or (isinstance(result, SystemExit) and guard.expects_exit())):
        raise crossing.UnconfirmedError("the candidate's process ended during a call")
    if isinstance(result, (StopIteration, StopAsyncIteration)):
        # A `map` or `zip` in the tests would take it as its normal end, and end early and silently.
        raise crossing.UnconfirmedError("the candidate raised StopIteration")
    raise result


def hello_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate's first message, with all required fields; raises MalformedError."""
    wanted = {"functions": list, "imported": list, "errors": dict, "values": dict, "n": list}
    if not all(type(message.get(name)) is kind for name, kind in wanted.items()):
        raise MalformedError("it does not say what it defines")
    return message


class _Makers(standing_in.Makers):
    """The makers of the tests' side: a function becomes a stub that calls the candidate again."""

    def __init__(self, broken: Broken, guard: Guard, call_back: CallBack, tested: Mapping[str, Any]) -> None:
        super().__init__()
        self.note, self.array, self.masked = broken.note, guard, guard.masked  # type: ignore[method-assign]
        self._call_back, self._tested, self._guard = call_back, tested, guard

    def said(self, text: str) -> None:
        self._guard.plain(text)

    def object(self, name: Any, *, compares: bool) -> Any:
        return opaque.made(self._tested[name], compares=compares)

    def function(self, node: list[Any]) -> Any:
        if node[0] != "function" or not isinstance(node[1], str):
            raise MalformedError("a function that is none")
        return Proxy(node[1], None, self._call_back)
