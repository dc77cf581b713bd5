"""What runs inside a program's process: the official single-process harness, and the two halves of the split one.

``official`` does what the benchmark's published evaluator does (HumanEval-V execution.py), its holes included: one
``exec`` of program and tests together. ``candidate`` and ``tests`` are the split harness: the candidate's functions
live in a process that never has the tests; the tests call them through a proxy.
"""

import builtins
import contextlib
import io
import os
import signal
import socket
import sys

import crossing
import instances
import patience
import receiving
import sending
import vacuous
import wire

MAX_TEXT, MAX_NAME = 20_000, 200
MAX_LINES = 8
MAX_SWALLOWED = 1 << 20


class TimeoutException(Exception):  # noqa: N818 - the official name: a program may print or catch it
    """Raised in the program when its time is up."""


class WriteOnlyStringIO(io.StringIO):
    """Swallows output, to a bound; reading raises OSError."""

    def write(self, text):
        if self.tell() < MAX_SWALLOWED:
            return super().write(text)
        return len(text)

    def read(self, *args, **kwargs):
        raise OSError

    readline = readlines = read

    def readable(self, *args, **kwargs):
        return False


def _swallow_streams():
    sys.stdout = sys.stderr = sys.stdin = WriteOnlyStringIO()


def clip(text):
    """Bound a text for people, and make it encodable."""
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... [{len(text) - MAX_TEXT} more characters]"
    return text


class _Result:
    """The official evaluator's list of results; what is appended first counts, and is sent at once."""

    def __init__(self, fd):
        self._fd = fd

    def append(self, text, kind="", lines=""):
        message = {"result": clip(str(text)), "kind": kind[:MAX_NAME]} | ({"lines": lines} if lines else {})
        wire.send(lambda data: os.write(self._fd, data), message)


def _on_alarm(_number, _frame):
    raise TimeoutException("Timed out!")


def official(spec, result_fd):
    """Run program and tests in one process; report the official result text."""
    result = _Result(result_fd)
    unsafe_execute(spec["program"], result, spec["failed_prefix"], spec["timed_out"])


def unsafe_execute(check_program, result, prefix, timed_out):
    """Mirror the official function of this name; programs that search their callers find `result` here as there."""
    try:
        _swallow_streams()
        signal.signal(signal.SIGALRM, _on_alarm)
        exec_globals = {}
        exec(check_program, exec_globals)
        result.append("passed")
    except TimeoutException:
        result.append(timed_out, "timeout")
    except BaseException as e:
        result.append(f"{prefix}{e}", type(e).__name__, _lines(e))


def _lines(error):
    """Return where in the program an exception came by, outermost first: line numbers, for people only."""
    lines = []
    with contextlib.suppress(BaseException):
        trace = error.__traceback__
        while trace is not None and len(lines) < MAX_LINES:
            if trace.tb_frame.f_code.co_filename == "<string>":
                lines.append(str(int(trace.tb_lineno)))
            trace = trace.tb_next
    return ",".join(lines)


# --- the split harness ------------------------------------------------------------------------------------------


class _Channel:
    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.broken = None  # what the tests' own handlers may have swallowed
        self.guard = None  # of the tests' comparisons

    def note(self, error):
        """Keep the first reason why nothing can be confirmed any more; return it."""
        if self.broken is None:
            self.broken = error
        return self.broken

    def send(self, message):
        wire.send_bytes(self.socket.send, crossing.dumps(message))

    def receive(self):
        data = wire.receive_bytes(self.socket.recv, crossing.MAX_BYTES)
        return crossing.loads(data, self.guard.constant if self.guard else float)


def candidate(spec, channel_fd):
    """Execute the candidate's code, then answer calls until the tests hang up."""
    channel = _Channel(channel_fd)
    _swallow_streams()
    printed = sys.stdout = WriteOnlyStringIO()
    namespace = {}
    try:
        exec(compile(spec["signature"], "<signature>", "exec"), namespace)
        originals = instances.declared(spec["classes"], namespace)
        exec(compile(spec["source"], "<candidate>", "exec"), namespace)
    except BaseException as error:
        channel.send({"failed": clip(f"{type(error).__name__}: {error}")})
        return
    classes = originals | instances.declared(spec["classes"], namespace)
    names = {kind: name for table in (originals, classes) for name, kind in table.items()}
    functions = [n for n, v in namespace.items() if callable(v) and not n.startswith("__")]
    modules = [n for n, v in namespace.items() if type(v) is type(sys)]
    channel.send({"functions": functions, "modules": modules})
    while True:
        try:
            call = channel.receive()
        except (wire.ClosedError, OSError):
            return
        printed.seek(0)
        printed.truncate()
        reply = _answer(call, namespace, classes, names)
        if call.get("p"):
            reply["p"] = printed.getvalue()
        channel.send(reply)


def _answer(call, namespace, classes, names):
    decoder = receiving.Decoder(call["n"], classes)
    decoder.decode_all()
    positional = decoder.values(call["v"])
    named = {key: decoder.value(atom) for key, atom in call["k"]}
    known = decoder.built
    mutable = [i for i, node in enumerate(call["n"]) if node[0] in crossing.MUTABLE]
    before = sending.Encoder(names, known)
    contents = {i: before.node(known[i]) for i in mutable}
    try:
        outcome = {"v": namespace[call["f"]](*positional, **named)}
    except Exception as error:
        outcome = {"e": error}
    try:
        after = sending.Encoder(names, known)
        reply = {key: after.encode(value) for key, value in outcome.items()}
        changed = [[i, after.node(known[i])] for i in mutable]
        after.encode(None)  # nodes that changed arguments brought along
        reply["m"] = [[i, node] for i, node in changed if node != contents[i]]
        reply["n"] = after.nodes
        crossing.dumps(reply)
    except crossing.UncrossableError as error:
        return {"x": str(error)}
    return reply


class _Proxy:
    """Stands in the tests' namespace for one function of the candidate."""

    def __init__(self, name, channel, classes, stub):
        self.__name__ = self.__qualname__ = name
        self.__doc__, self.__wrapped__ = stub.__doc__, stub
        self._channel, self._classes = channel, classes
        self._names = {kind: label for label, kind in classes.items()}

    def __call__(self, *args, **kwargs):
        if self._channel.broken is not None:
            raise self._channel.broken
        try:
            return self._call(args, kwargs)
        except (crossing.UnconfirmedError, crossing.MalformedError) as error:
            self._channel.note(error)
            raise

    def _call(self, args, kwargs):
        encoder = sending.Encoder(self._names)
        try:
            atoms = [encoder.encode(a) for a in args]
            named = [[key, encoder.encode(a)] for key, a in kwargs.items()]
            call = {"f": self.__name__, "n": encoder.nodes, "v": atoms, "k": named}
            self._channel.send(call if sys.stdout is self._channel.swallowed else call | {"p": True})
        except crossing.UncrossableError as error:
            raise crossing.UnconfirmedError(f"the test passes a {error}, which cannot cross to the candidate") from None
        try:
            reply = self._channel.receive()
        except (wire.ClosedError, OSError):
            raise crossing.UnconfirmedError("the candidate's process ended during a call") from None
        return self._understand(reply, encoder)

    def _understand(self, reply, sent):
        known = sent._alive
        if "x" in reply:
            what = str(reply["x"])[:200]
            raise crossing.UnconfirmedError(f"the candidate returned what cannot cross to the tests: {what}")
        channel = self._channel
        decoder = receiving.Decoder(
            reply.get("n"), self._classes, known, mark_array=channel.guard, endless=channel.note
        )
        decoder.decode_all()
        try:
            result = decoder.value(reply["e"] if "e" in reply else reply["v"])
            for position, node in reply["m"]:
                receiving.check_change(sent.nodes, position, node, known)
                decoder.fill(known[position], node)
            channel.guard.examine([*decoder.built, *(known[position] for position, _ in reply["m"])])
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise crossing.MalformedError(str(error)[:200]) from None
        printed = reply.get("p", "")
        if not isinstance(printed, str):
            raise crossing.MalformedError("it printed what is no text")
        if printed:
            sys.stdout.write(printed)
        if "e" not in reply:
            return result
        if not isinstance(result, Exception):
            raise crossing.UnconfirmedError("the candidate ended its process")
        if isinstance(result, (StopIteration, StopAsyncIteration)):
            # Raised through a map or a zip of the tests, it would end them early and silently.
            raise crossing.UnconfirmedError("the candidate raised StopIteration")
        raise result


def tests(spec, channel_fd, result_fd):
    """Run the task's tests against the candidate's functions; report whether they confirm it."""
    _swallow_streams()
    reason, kind = _run_tests(spec, _Channel(channel_fd))
    wire.send(lambda data: os.write(result_fd, data), {"confirmed": not reason, "reason": clip(reason), "kind": kind})


def _run_tests(spec, channel):
    """Return ("", "") where every test passed, else why not and of what kind."""
    channel.swallowed = sys.stdout
    try:
        hello = channel.receive()
    except crossing.MalformedError as error:
        return _why(error)
    except (wire.ClosedError, OSError):
        return "the candidate's process ended while its code was loading", "ended"
    if "failed" in hello:
        return f"the candidate's code does not load: {clip(str(hello['failed']))}", "load"
    channel.guard = vacuous.refuse_empty_comparisons(channel.note, spec["signature"] + spec["test"])
    failures = []
    why = "", ""
    try:
        namespace = {}
        exec(compile(spec["signature"], "<signature>", "exec"), namespace)
        _lend(spec, hello, channel, namespace)
        exec(patience.compile_tests(spec["test"], namespace, failures), namespace)
    except BaseException as error:
        why = _why(error)
    if channel.broken is not None:
        return _why(channel.broken)
    return _why(failures[0]) if failures else why


def _why(error):
    if isinstance(error, crossing.UnconfirmedError):
        return str(error), "unconfirmed"
    if isinstance(error, crossing.EndlessError):
        return f"the tests ask for {error}", "unconfirmed"
    if isinstance(error, crossing.MalformedError):
        return f"the candidate sent a malformed value ({error})", "malformed"
    if isinstance(error, AssertionError):
        return f"a test fails: {error}" if str(error) else "a test fails", "assertion"
    return f"{type(error).__name__}: {error}", "error"


# Where a test may find a name that the task's signature forgot to import and the candidate did import.
_TRUSTED = (
    "math", "collections", "itertools", "functools", "typing", "copy", "random", "re", "string", "heapq", "bisect",
    "operator", "datetime", "json", "cmath", "statistics", "fractions", "decimal", "time",
)  # fmt: skip
_ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"} | {name: name for name in _TRUSTED}


def _lend(spec, hello, channel, namespace):
    """Put what the tests may use of the candidate into their namespace.

    Its functions come as proxies, and only those that the signature leaves to the candidate: a function the signature
    defines stays the signature's. Modules and library functions that the candidate imported come from this process's
    own library, and only where the tests name them: what the candidate calls `isclose` is of no interest.
    """
    classes = instances.declared(spec["classes"], namespace)
    theirs = {n for n in hello["functions"] if isinstance(n, str)}
    for name in spec["stubs"]:
        stub = namespace.pop(name, None)
        if name in theirs:
            namespace[name] = _Proxy(name, channel, classes, stub)
    used = _global_names(compile(spec["test"], "<tests>", "exec"))
    for name in used - namespace.keys() - set(dir(builtins)):
        if name in _ALIASES and name in hello["modules"]:
            namespace[name] = __import__(_ALIASES[name])
        elif name in theirs:
            _lend_library_function(name, namespace)


def _lend_library_function(name, namespace):
    for module in map(__import__, _TRUSTED):
        if hasattr(module, name):
            namespace[name] = getattr(module, name)
            return


def _global_names(code):
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _global_names(constant)
    return found
