"""One pylint that checks one program after another, for errors and fatal problems only.

Its messages are those of a fresh pylint; tests/sandbox/test_linter.py compares them with the official evaluator's. Its
process never executes a program. It is replaced if a source makes it hang, grow or crash.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import socket
import sys

from grade_sandbox import wire
from grade_sandbox.confine import process
from grade_sandbox.lint import shortcuts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

NAME = "program"
MAX_MESSAGE, MAX_TEXT = 10_000, 100_000
MEMORY_BYTES = 512 << 20
LINTS_BEFORE_COLLECTION = 64


def serve(spec: dict[str, Any], channel_fd: int, ready_fd: int) -> None:
    """Lint one source after another, until the channel closes; `spec` is empty."""
    process.limit_resources(memory_bytes=MEMORY_BYTES, limits_address_space=True)
    os.environ["PYLINTHOME"] = os.getcwd()
    channel = socket.socket(fileno=channel_fd)
    # Looking for garbage in all that pylint loads would take a fifth of the start; see also `collect`.
    gc.disable()
    linter = Linter(os.getcwd())
    linter.warm()
    wire.send(lambda data: os.write(ready_fd, data), {"ready": True})
    count = 0
    while True:
        try:
            source = wire.receive(channel.recv)["source"]
        except (wire.ClosedError, OSError):
            return
        try:
            reply: dict[str, Any] = {"messages": linter.lint(source)}
        except (Exception, RecursionError) as error:
            reply = {"broken": f"{type(error).__name__}: {str(error)[:500]}"}
        wire.send(channel.send, reply | {"must_be_replaced": linter.must_be_replaced})
        count += 1
        if count % LINTS_BEFORE_COLLECTION == 0:
            linter.collect()


class Linter:
    """A pylint with its state between programs."""

    def __init__(self, folder: str) -> None:
        from astroid import MANAGER
        from astroid.builder import AstroidBuilder
        from astroid.context import _invalidate_cache
        from pylint.lint import PyLinter, utils
        from pylint.reporters import CollectingReporter

        self.module_cache = MANAGER.astroid_cache
        self.clear_inferences = _invalidate_cache
        self.folder = folder
        self.path = os.path.join(folder, f"{NAME}.py")
        self.reporter = CollectingReporter()
        self.linter = PyLinter(reporter=self.reporter)
        self.linter.load_default_plugins()
        self.linter.disable("all")
        self.linter.enable("E")
        self.linter.enable("F")
        self.linter.set_reporter(self.reporter)
        self.shortcuts = shortcuts.Shortcuts(self.linter)
        self.must_be_replaced = False
        """Whether a program has changed what pylint knows of libraries, which astroid keeps in many places."""
        self.caches = list(_caches_of_nodes())
        _notice_changes_of_libraries(AstroidBuilder, self._require_replacement)
        # Descriptions of the file to check, which pylint makes if the file exists. All programs have the same path.
        self.augmented_sys_path, self.search_paths = utils.augmented_sys_path, [os.path.realpath(folder)]
        with open(self.path, "w"), self.augmented_sys_path(self.search_paths):
            self.file_items = list(self.linter._iterate_file_descrs([self.path]))
        os.unlink(self.path)

    def lint(self, source: str) -> list[str]:
        """Return the texts of pylint's error and fatal messages for one program, without `function-redefined`."""
        self.shortcuts.choose_for(source)
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            may_import_itself = NAME in source
            needs_no_file = self.shortcuts.is_plain and not may_import_itself
            if not (needs_no_file and self._check_text(source)):
                self._check_file(source)
        finally:
            sys.stderr = stderr
            self._remove_traces()
        return _clip_messages(
            message.msg
            for message in self.reporter.messages
            if message.category in {"error", "fatal"} and message.symbol != "function-redefined"
        )

    def _check_file(self, source: str) -> None:
        self.reporter.messages = []
        with open(self.path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(source)
        try:
            self.linter.check([self.path])
        finally:
            # pylint may leave a crash report beside the source.
            for name in os.listdir(self.folder):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self.folder, name))

    def _check_text(self, source: str) -> bool:
        """Check a source without writing it to a file; return False if pylint needs the file.

        This is the last part of pylint's own `check`. It is only for sources that are the same text however a file is
        read, and that do not import themselves. If pylint crashes, it reads the file for its report.
        """
        self.reporter.messages = []
        try:
            with self.augmented_sys_path(self.search_paths), self.linter._astroid_module_checker() as check:
                self.linter._lint_files(self.linter._get_asts(iter(self.file_items), source), check)
        except FileNotFoundError:
            self._remove_traces()
            return False
        return True

    def _remove_traces(self) -> None:
        # astroid keeps a module under its name, and the next program has the same name.
        self.module_cache.pop(NAME, None)
        # astroid stops after a number of inferred values, and keeps the incomplete result, also for nodes of libraries.
        self.clear_inferences()

    def _require_replacement(self) -> None:
        self.must_be_replaced = True

    def warm(self) -> None:
        """Load what pylint loads on first use; the garbage collector will skip it.

        The parts for NumPy are loaded by the first program that imports it, because some benchmarks have no such one.
        """
        self.lint("import typing\nfrom typing import List\n\ndef f(x: List[int]):\n    return x\n")
        gc.freeze()

    def collect(self) -> None:
        """Free what is left of the last programs; the garbage collector will skip the rest, such as library modules.

        Without this, each collection would look at everything that pylint has loaded, for milliseconds a program.
        """
        # The caches and pylint's checkers would keep the trees of the last programs alive. The collector would skip
        # these, too, and so never free them.
        self.lint("")
        for clear in self.caches:
            clear()
        gc.collect()
        gc.freeze()


def _caches_of_nodes() -> Iterator[Callable[[], None]]:
    """Yield the functions that clear the caches of pylint and astroid whose keys are nodes of programs."""
    from astroid import nodes
    from astroid.inference_tip import clear_inference_tip_cache
    from astroid.interpreter import objectmodel
    from pylint.checkers import utils

    yield clear_inference_tip_cache
    astroid_classes = (nodes.LocalsDictNodeNG, nodes.ClassDef, objectmodel.ObjectModel)
    for owner in (utils, *(base for kind in astroid_classes for base in kind.__mro__)):
        for value in vars(owner).values():
            if hasattr(value, "cache_clear"):
                yield value.cache_clear


def _clip_messages(messages: Iterable[str]) -> list[str]:
    """Return the messages, and bound the length of each and of all. An honest program's messages are one line each."""
    texts, room = [], MAX_TEXT
    for message in messages:
        if room <= 0:
            texts.append("... and more")
            break
        text = message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}..."
        room -= len(text)
        texts.append(text)
    return texts


def _notice_changes_of_libraries(builder_class: Any, notice: Callable[[], object]) -> None:
    """Call `notice` if astroid adds an assignment to an attribute to an owner outside of the program."""
    from astroid.exceptions import AstroidError

    add_to_owners = builder_class.delayed_assattr

    def delayed_assattr(self: Any, node: Any) -> None:
        add_to_owners(self, node)
        if node.root().name == NAME:
            owners = []
            with contextlib.suppress(AstroidError, RecursionError):
                owners += node.expr.infer()
            if any(_has_changed_library(owner, node) for owner in owners):
                notice()

    builder_class.delayed_assattr = delayed_assattr


def _has_changed_library(inferred: Any, assignment: Any) -> bool:
    """Whether the owner of an attribute is outside of the program, and has got this assignment."""
    # Those of an instance are added to its class.
    owner_and_class: tuple[Any, Any] = (inferred, getattr(inferred, "_proxied", None))
    for owner in owner_and_class:
        for name in ("locals", "instance_attrs"):
            nodes_by_name = getattr(owner, name, None)
            nodes = nodes_by_name.get(assignment.attrname, ()) if isinstance(nodes_by_name, dict) else ()
            if any(node is assignment for node in nodes) and owner.root().name != NAME:
                return True
    return False
