"""Build the program that runs from a code block: by the official assembly, and by one that drops nothing needed."""

from __future__ import annotations

import ast
import functools
import re
import typing
from typing import TypeAlias

import msgspec

from grader.scorers.execution.careful_program import WantedProgram, find, has_code
from grader.scorers.execution.extraction import NOTHING, Rules, defined, extract, extract_plain, parse, tree_of
from grader.scorers.execution.statements import (
    is_constant,
    is_main_guard,
    names_lacking,
    says_nothing,
    statements,
    unparsed,
)

_Scope: TypeAlias = ast.FunctionDef | ast.ClassDef


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """The declarations in a task's signature."""

    source: str
    """The signature made a complete program by appending `    pass`, if it ends with a function."""
    stubs: tuple[str, ...]
    """Top-level functions that the candidate must write: the signature's last one, and others without a body."""
    tested_classes: tuple[str, ...] = ()
    """Top-level classes that the candidate must write. Their objects stay in the candidate's process."""
    classes: tuple[str, ...]
    """The other top-level classes, nested classes, and names that may be classes (`Point = namedtuple(...)`). Their
    instances may be passed between candidate and tests."""

    @property
    def required(self) -> tuple[str, ...]:
        """Functions and classes that the candidate must write."""
        return (*self.stubs, *self.tested_classes)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The program assembled from one prediction."""

    completion: str
    """The program is `head(signature, completion)` and the tests."""
    recovered: str | None = None
    """The careful completion, if it is another one."""
    difference: str = ""
    """What the careful completion does otherwise: words behind "the program"."""
    is_missing: bool = False
    """Whether the reply has no program at all."""

    @property
    def has_official(self) -> bool:
        """Whether the official extraction finds anything."""
        return bool(self.completion.strip()) and self.completion != NOTHING


@functools.lru_cache(maxsize=4096)
def read_signature(text: str) -> Signature:
    """Read a task's `function_signature`."""
    text = _terminated(text)
    # A signature without a function has no body: it is empty, or has only imports. One that ends with a method's
    # first line, as LeetCode's starter code does, has its body deeper.
    deeper = re.match(r"\s*", text.rstrip().rpartition("\n")[2])[0]  # type: ignore[index]
    forms = (text + NOTHING + "\n", text, text.rstrip() + "\n" + deeper + NOTHING + "\n")
    source = next((form for form in forms if parse(form) is not None), forms[0])
    tree = parse(source) or ast.Module(body=[], type_ignores=[])
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    stubs = tuple(node.name for node in functions if all(map(says_nothing, node.body)) or node is tree.body[-1])
    tested = tuple(
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and _is_tested(node, last=node is tree.body[-1] and not stubs)
    )
    classes = tuple(name for node in tree.body if getattr(node, "name", "") not in tested for name in _classes(node))
    return Signature(source=source, stubs=stubs, tested_classes=tested, classes=classes)


def _is_tested(node: ast.ClassDef, *, last: bool) -> bool:
    """Whether the candidate must write a class: its methods have no bodies, or it is all that the signature asks for.

    Exceptions and enumerations say everything by their names.
    """
    if any(ast.unparse(base).endswith(_COMPLETE) for base in node.bases):
        return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return last or bool(methods and all(all(map(says_nothing, method.body)) for method in methods))


_COMPLETE = ("Exception", "Error", "Warning", "Enum", "Flag", "NamedTuple", "TypedDict", "Protocol")
"""The last parts of the names of base classes. A class with such a base is complete without methods."""


def _classes(node: ast.stmt, outer: str = "") -> list[str]:
    if isinstance(node, ast.ClassDef):
        name = f"{outer}{node.name}"
        return [name, *(inner for part in node.body for inner in _classes(part, f"{name}."))]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and not outer:
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def assemble(
    prediction: str, signature_text: str, rules: Rules, tested: tuple[str, ...] = (), prelude: str | None = None
) -> Program:
    """Assemble one prediction by these rules, and as a person would.

    `tested`: the names that the tests use. They say what to write if the signature does not. `prelude`: the code that
    the program runs behind, if that is not the signature.
    """
    declared = read_signature(signature_text)
    names = declared.required or tested
    block = extract_plain(prediction, names) if rules == "plain" else extract(prediction, rules)
    content = _with_signature(block, _terminated(signature_text))
    tree = tree_of(content)
    as_written = rules in {"plain", "livecodebench"}
    completion = content if as_written else official_completion(content, tree)
    source = declared.source if prelude is None else prelude
    given = frozenset(defined(parse(source) or _EMPTY)).difference(names)
    prompt = "" if prelude is None else _typing_of(declared.source) + declared.source
    found = find(prediction, WantedProgram(names, _terminated(signature_text), given, prompt))
    if found is None:
        made = Program(completion=completion)
        return msgspec.structs.replace(made, is_missing=not (made.has_official and has_code(prediction)))
    careful = tree_of(found) or _EMPTY
    lost = [] if as_written else [node for node in careful.body if not isinstance(node, _SHOWN)]
    is_first = prelude is not None or not _has_future(careful)  # behind the signature, that import would be too late
    if is_first and not lost and found.strip("\n") == content.strip("\n"):
        return Program(completion=completion)
    official = [_essence(one, names) for one in (tree, tree_of(completion)) if one is not None]
    other = _essence(careful, names)
    if is_first and (official[-1:] == [other] or (official[:1] == [other] and not lost)):
        return Program(completion=completion)
    return Program(completion=completion, recovered=found, difference=_difference(official[:1], other, lost))


def _typing_of(source: str) -> str:
    """Return the import of typing's names that starter code uses without one, as LeetCode's does."""
    names = names_lacking(statements(source)).intersection(typing.__all__)
    return f"from typing import {', '.join(sorted(names))}\n" if names else ""


_EMPTY = ast.Module(body=[], type_ignores=[])
_NOT_FOUND = "keeps the code of the answer, which the official extraction does not find"
_NEEDLESS = "does not run tests and demonstrations of its own"


def _essence(tree: ast.Module, names: tuple[str, ...]) -> list[str]:
    """Return the statements of a program, without those that do nothing where its functions are called."""
    kept = (n for n in tree.body if not (isinstance(n, ast.Pass) or is_constant(n) or (names and is_main_guard(n))))
    return (unparsed(kept) or "").split("\n")


def _has_future(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)


def _difference(official: list[list[str]], careful: list[str], lost: list[ast.stmt]) -> str:
    """Return in words what a careful program does otherwise than the official code block."""
    if not official or not {*careful} <= {*official[0]}:
        return _NOT_FOUND
    if not lost:
        return _NEEDLESS
    names = dict.fromkeys(
        n.id for one in lost for n in ast.walk(one) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    return f"keeps top-level {', '.join(names) or 'statements'}"


def head(signature_text: str, completion: str) -> str:
    """Return a program without its tests: the signature with an empty body, and the completion."""
    return f"{read_signature(signature_text).source.removesuffix(chr(10))}\n\n{completion}\n\n"


def _terminated(signature: str) -> str:
    return signature if signature.endswith("\n") else signature + "\n"


def _with_signature(content: str, signature: str) -> str:
    """Prepend the signature to a block that begins with an indented line: such a block is only the body."""
    return signature + content if content.startswith(("  ", "\n  ")) else content


class _Collector(ast.NodeVisitor):
    """Collects all imports, and functions and classes that are not nested in others.

    It recurses like the official visitor. If a tree is too deep for that, the text is kept unchanged.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._depth = 0

    def visit_Import(self, node: ast.Import) -> None:
        self.parts += [f"import {_alias(name)}" for name in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.parts += [f"from {node.module or ''} import {_alias(name)}" for name in node.names]

    def _visit_scope(self, node: _Scope) -> None:
        if not self._depth:
            self.parts.append(ast.unparse(node))
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_FunctionDef = visit_ClassDef = _visit_scope  # noqa: N815 - ast's names


def _alias(name: ast.alias) -> str:
    return f"{name.name} as {name.asname}" if name.asname else name.name


def official_completion(content: str, tree: ast.Module | None) -> str:
    """Return the official completion of a code block. It is kept unchanged if it does not parse: `tree` is None."""
    if tree is None:
        return content
    collector = _Collector()
    try:
        collector.visit(tree)
    except (RecursionError, MemoryError, ValueError):
        return content
    return "\n".join(collector.parts)


_SHOWN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
"""The statements that the official assembly keeps."""
