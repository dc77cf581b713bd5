"""Build the program that runs from a code block: by the official assembly, and by one that drops nothing needed."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import re
import textwrap
from typing import TypeAlias

import msgspec

from grader.scorers.execution.extraction import (
    MAX_SOURCE,
    NOTHING,
    Rules,
    defined,
    extract,
    extract_careful,
    extract_plain,
    extract_script,
    is_script,
    parse,
    returns,
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
    def written(self) -> tuple[str, ...]:
        """Functions and classes that the candidate must write."""
        return (*self.stubs, *self.tested_classes)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The program assembled from one prediction."""

    completion: str
    """The program is `head(signature, completion)` and the tests."""
    recovered: str | None
    """The careful completion, if the official one lost code; else None."""
    lost: str
    """Description of the code that the official completion lost."""
    rebinds: bool = False
    """Whether the official completion is not the program at all: the lost code is the program, or changes the meaning
    of a name that was kept. Then the program is only the text as written."""


@functools.lru_cache(maxsize=4096)
def read_signature(text: str) -> Signature:
    """Read a task's `function_signature`."""
    written = _terminated(text)
    # A signature without a function has no body: it is empty, or has only imports. One that ends with a method's
    # first line, as LeetCode's starter code does, has its body deeper.
    deeper = re.match(r"\s*", written.rstrip().rpartition("\n")[2])[0]  # type: ignore[index]
    forms = (written + NOTHING + "\n", written, written.rstrip() + "\n" + deeper + NOTHING + "\n")
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


def says_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing: `pass`, an import, or a constant such as a docstring."""
    if isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom)):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def assemble(prediction: str, signature_text: str, rules: Rules, tested: tuple[str, ...] = ()) -> Program:
    """Assemble one prediction by these rules, and record which code they lose.

    `tested`: the names that the tests use. They say what to write if the signature does not.
    """
    names = read_signature(signature_text).written or tested
    signature = _terminated(signature_text)
    block = extract_plain(prediction, names) if rules == "plain" else extract(prediction, rules)
    content = _with_signature(block, signature)
    tree = parse(content)
    as_written = rules in {"plain", "livecodebench"}
    completion = content if as_written else official_completion(content, tree)
    whole = tree if _is_whole(block, content, tree, names, as_written=as_written) else None
    recovered, lost = _elsewhere(prediction, block, signature, names, whole)
    rebinds = recovered is not None
    if not lost and not as_written and tree is not None:
        recovered, lost = _dropped(tree, completion)
        rebinds = recovered is not None and _rebinds(tree)
    return Program(completion=completion, recovered=recovered, lost=lost, rebinds=rebinds)


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


def _is_whole(block: str, content: str, tree: ast.Module | None, names: tuple[str, ...], *, as_written: bool) -> bool:
    """Whether the official extraction finds the program: `content` defines one of `names`."""
    if tree is None or block == NOTHING or defined(tree).isdisjoint(names):
        return False
    if block != content and extract_careful(block, names) is not None:
        return False  # an indented program was taken for a body
    return not (as_written and any(_is_prose(node, tree) for node in tree.body))


def _is_prose(node: ast.stmt, tree: ast.Module) -> bool:
    """Whether a statement is a word ("Sure", "[PYTHON]") that happens to be Python, and has no meaning."""
    if not isinstance(node, (ast.Expr, ast.AnnAssign)) or any(isinstance(part, ast.Call) for part in ast.walk(node)):
        return False
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    return bool(used - defined(tree) - {name for part in tree.body for name in _assigned(part)} - set(dir(builtins)))


def _elsewhere(
    prediction: str, content: str, signature: str, names: tuple[str, ...], tree: ast.Module | None
) -> tuple[str | None, str]:
    """Return the program that the official extraction does not find, and what it loses; `tree`: what it finds.

    A program that it finds is replaced only if it is from the thoughts before the answer.
    """
    answer = _THOUGHT.sub("", prediction)
    if tree is not None and answer == prediction and (names or is_script(content)):
        return None, ""
    if not names:
        script = extract_script(answer)
        is_other = parse(script) is not None and script.strip() != content.strip()
        return (script, _NOT_FOUND) if is_other else (None, "")
    program, lost = extract_careful(answer, names), _NOT_FOUND
    if program is None and tree is None:
        program = extract_careful(prediction, names)
    if program is None and tree is None:
        program, lost = _continued(extract_plain(answer, names), signature, names), "the signature before the body"
    if program is None or len(program) > MAX_SOURCE:
        return (None, "") if program in {None, content} else (program, lost)
    statements = _keep(ast.parse(program))
    return (None, "") if statements is None or (tree is not None and statements == _keep(tree)) else (statements, lost)


_NOT_FOUND = "the code of the answer, which the official extraction does not find"
_THOUGHT = re.compile(
    r"\A.*(?:</(?:think(?:ing)?|analysis|reason(?:ing)?|thoughts?)>|\[/THINK\]|◁/think▷)(?=.*\S)", re.S
)
"""A model's thoughts before its answer."""


def _continued(text: str, signature: str, names: tuple[str, ...]) -> str | None:
    """Return the signature and a text that is the body of its function, also with another indentation; else None."""
    alone = parse(text)
    if alone is not None and not returns(alone):
        return None
    usual = " " * 4
    for body in (text, textwrap.indent(textwrap.dedent(text), usual), usual + text.lstrip()):
        tree = parse(signature + body)
        written = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []
        if any(node.name in names and not all(map(says_nothing, node.body)) for node in written):
            return signature + body
    return None


def _dropped(tree: ast.Module, completion: str) -> tuple[str | None, str]:
    """Return the completion with what the official one drops (None if nothing is dropped), and the loss in words."""
    dropped = [node for node in tree.body if _is_kept(node) and not isinstance(node, _SHOWN)]
    if not dropped:
        return None, ""
    statements = _keep(tree)
    names = ", ".join(dict.fromkeys(name for node in dropped for name in _assigned(node))) or "statements"
    return (statements, f"top-level {names}") if statements != completion else (None, "")


_SHOWN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_KEPT = (*_SHOWN, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.With)


def _rebinds(tree: ast.Module) -> bool:
    """Whether top-level code that the official assembly drops rebinds a name that is kept."""
    dropped = {n for node in tree.body if _is_kept(node) and not isinstance(node, _SHOWN) for n in _assigned(node)}
    return not dropped.isdisjoint(defined(tree))


def _is_kept(node: ast.stmt) -> bool:
    """Whether to keep a statement: definitions and constants, but no calls for side effects, demos or main guards."""
    if isinstance(node, (ast.If, ast.Try)):
        guard = isinstance(node, ast.If) and "__name__" in {
            n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)
        }
        return not guard and all(map(_is_kept, node.body))
    if isinstance(node, ast.AnnAssign):
        return node.value is not None
    return isinstance(node, _KEPT)


def _assigned(node: ast.stmt) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _keep(tree: ast.Module) -> str | None:
    with contextlib.suppress(RecursionError, MemoryError, ValueError):
        return "\n".join(ast.unparse(node) for node in tree.body if _is_kept(node))
    return None
