"""Rehearse in a zygote what its forks will do: load a candidate, and answer calls.

Python adapts a function's byte code in its first runs. Without a rehearsal, each fork would do this again, and would
write to pages that it shares with the zygote. Nothing that a rehearsal defines remains.
"""

from __future__ import annotations

import io
import json
import random
import threading

import answering
import harness
import surroundings
import wire

TIMES = 16
"""Python adapts byte code after about eight runs."""
_CANDIDATE = {
    "signature": "from typing import List\nclass Pair:\n    pass\ndef echo(value: List[int], *, key=None):\n    pass\n",
    "classes": ["Pair"],
    "stubs": ["echo"],
    "source": "import math\nLIMIT = 3\ndef echo(value, *, key=None):\n    if key:\n        raise ValueError(key)\n"
    "    return [*value, True] if isinstance(value, list) else value\n",
    "names": ["LIMIT", "math"],
    "reads": ["left"],
}
_NODES = [["list", [1, 2.5, "text", None, {"r": 1}, {"r": 2}]], ["dict", ["key", {"r": 2}]], ["tuple", [True]]]
_CALLS = [
    {"f": {"x": ["name", "echo"]}, "m": [], "v": [value], "k": keys, "n": nodes, "d": []}
    for value, nodes in ((7, []), ("text", []), ({"r": 0}, _NODES))
    for keys in ([], [["key", "why"]])
]
"""With a key, the candidate raises an exception."""


def rehearse() -> None:
    """Answer some calls, often enough for Python to adapt the functions that do it."""
    for _ in range(TIMES):
        threading.main_thread()._set_native_id()  # type: ignore[attr-defined]
        random.seed()
        data = io.BytesIO()
        wire.send(data.write, _CANDIDATE)
        data.seek(0)
        _answer(wire.receive(data.read))
        _fail()


def _answer(spec: dict[str, object]) -> None:
    namespace: dict[str, object] = {}
    exec(compile(str(spec["signature"]), "<signature>", "exec"), namespace)
    originals = answering.instances.declared(spec["classes"], namespace)
    exec(compile(str(spec["source"]), "<candidate>", "exec"), namespace)
    entered = surroundings.Entered(answering.streams.WriteOnlyStringIO())
    answerer = answering._Answerer(spec, namespace, originals, [], entered)
    answerer.hello()
    for call in _CALLS:
        answerer.answer(answering.crossing.loads(json.dumps(call).encode()))


def _fail() -> None:
    result = harness._Result(-1)
    try:
        exec("assert [1, 2] == [2], 'rehearsed'", {})
    except AssertionError as error:
        try:
            result.append("rehearsed", "AssertionError", harness._lines(error))
        except OSError:
            return
