"""Build the program that runs from a code block: by the official assembly, and by one that drops nothing needed."""

from __future__ import annotations

import ast
import functools
import typing
from typing import TypeAlias

import msgspec

from grader.scorers.execution.careful_program import WantedProgram, find_program, has_code
from grader.scorers.execution.extraction import (
    EMPTY_BODY,
    Rules,
    cached_tree,
    defined_names,
    extract,
    extract_plain,
    parse_or_none,
)
from grader.scorers.execution.statements import (
    is_main_guard,
    is_noop,
    statements,
    undefined_names,
    unparse,
)

_Scope: TypeAlias = ast.FunctionDef | ast.ClassDef


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """The declarations in a task's signature."""

    source: str
    """The signature made a complete program by appending `    pass`, if it ends with a function."""
    required_functions: tuple[str, ...]
    """Top-level functions that the candidate must write: the signature's last one, and others without a body."""
    required_classes: tuple[str, ...] = ()
    """Top-level classes that the candidate must write. Their objects stay in the candidate's process."""
    shared_classes: tuple[str, ...]
    """The other top-level classes, nested classes, and names that may be classes (`Point = namedtuple(...)`). Their
    instances may be passed between candidate and tests."""

    @property
    def required(self) -> tuple[str, ...]:
        """Functions and classes that the candidate must write."""
        return (*self.required_functions, *self.required_classes)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The program assembled from one prediction."""

    completion: str
    """The program is `head(signature, completion)` and the tests."""
    recovered_completion: str | None = None
    """The careful completion, if it is another one."""
    difference: str = ""
    """What the careful completion does otherwise: words behind "the program"."""
    is_missing: bool = False
    """Whether the reply has no program at all."""

    @property
    def has_official_code(self) -> bool:
        """Whether the official extraction finds anything."""
        return bool(self.completion.strip()) and self.completion != EMPTY_BODY


@functools.lru_cache(maxsize=4096)
def read_signature(text: str) -> Signature:
    """Read a task's signature, and decide what the candidate must write.

    That is the function at its end (`def f(a):` and perhaps a docstring) and any other without a body; or a class whose
    methods have no bodies, as in LeetCode's starter code. Imports and helpers with a body are there for its use.
    """
    source = _with_empty_body(_with_line_end(text))
    tree = parse_or_none(source) or ast.Module(body=[], type_ignores=[])
    functions = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (all(map(is_noop, node.body)) or node is tree.body[-1])
    ]
    required_classes = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and _is_required(node, is_only=node is tree.body[-1] and not functions)
    ]
    others = [node for node in tree.body if getattr(node, "name", "") not in required_classes]
    return Signature(
        source=source,
        required_functions=tuple(functions),
        required_classes=tuple(required_classes),
        shared_classes=tuple(name for node in others for name in _class_names(node)),
    )


def _with_empty_body(text: str) -> str:
    """Return a signature as a valid program: the first of these forms that is valid, else the first."""
    last_line = text.rstrip().rpartition("\n")[2]
    indentation = last_line[: len(last_line) - len(last_line.lstrip())]
    forms = (
        text + EMPTY_BODY + "\n",  # it ends with a function
        text,  # it is empty, or has only imports
        text.rstrip() + "\n" + indentation + EMPTY_BODY + "\n",  # it ends with the first line of a method
    )
    return next((form for form in forms if parse_or_none(form) is not None), forms[0])


def _is_required(node: ast.ClassDef, *, is_only: bool) -> bool:
    """Whether the candidate must write a class: its methods have no bodies, or it is all that the signature asks for.

    Exceptions and enumerations say everything by their names.
    """
    if any(ast.unparse(base).endswith(_COMPLETE) for base in node.bases):
        return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return is_only or bool(methods and all(all(map(is_noop, method.body)) for method in methods))


_COMPLETE = ("Exception", "Error", "Warning", "Enum", "Flag", "NamedTuple", "TypedDict", "Protocol")
"""The last parts of the names of base classes. A class with such a base is complete without methods."""


def _class_names(node: ast.stmt, outer: str = "") -> list[str]:
    """Return the names that a statement may give to classes: also nested ones, and `Point = namedtuple(...)`."""
    if isinstance(node, ast.ClassDef):
        name = f"{outer}{node.name}"
        return [name, *(inner for part in node.body for inner in _class_names(part, f"{name}."))]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and not outer:
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def assemble(
    prediction: str,
    signature_text: str,
    rules: Rules,
    names_to_define: tuple[str, ...] = (),
    prelude: str | None = None,
) -> Program:
    """Assemble one prediction by these rules, and as a person would.

    `names_to_define`: the names that the tests use. They say what to write if the signature does not. `prelude`: the
    code that the program runs behind; None: it runs behind the signature.
    """
    signature = read_signature(signature_text)
    names = signature.required or names_to_define
    block = extract_plain(prediction, names) if rules == "plain" else extract(prediction, rules)
    block = _with_signature(block, _with_line_end(signature_text))
    keeps_block = rules in {"plain", "livecodebench"}
    completion = block if keeps_block else official_completion(block, cached_tree(block))
    program = Program(completion=completion)
    careful_text = find_program(prediction, _wanted_program(signature, signature_text, names, prelude))
    if careful_text is None:
        # The official extraction may take prose for code.
        is_missing = not (program.has_official_code and has_code(prediction))
        return msgspec.structs.replace(program, is_missing=is_missing)
    tree = cached_tree(careful_text) or _EMPTY_MODULE
    dropped_officially = [] if keeps_block else [node for node in tree.body if not isinstance(node, _KEPT_OFFICIALLY)]
    is_the_block = not dropped_officially and careful_text.strip("\n") == block.strip("\n")
    # Behind the signature, an import from `__future__` would be too late for the official program.
    runs_behind_signature = prelude is None
    is_valid_officially = not (runs_behind_signature and _has_future_import(tree))
    if is_valid_officially and (is_the_block or _is_equivalent(tree, completion, names)):
        return program
    difference = _describe_difference(tree, block, names, dropped_officially)
    return msgspec.structs.replace(program, recovered_completion=careful_text, difference=difference)


def _is_equivalent(tree: ast.Module, completion: str, names: tuple[str, ...]) -> bool:
    """Whether a careful program has the same statements as the official completion."""
    official_tree = cached_tree(completion)
    return official_tree is not None and _needed_lines(official_tree, names) == _needed_lines(tree, names)


def _wanted_program(
    signature: Signature, signature_text: str, names: tuple[str, ...], prelude: str | None
) -> WantedProgram:
    """Return what to look for in a reply.

    Usually the program runs behind the signature, whose names it then has. Behind a prelude, it has only the prelude's,
    so the signature is the prompt: what the program uses of it is added.
    """
    source_before = signature.source if prelude is None else prelude
    available = frozenset(defined_names(parse_or_none(source_before) or _EMPTY_MODULE)).difference(names)
    prompt = "" if prelude is None else _typing_import(signature.source) + signature.source
    return WantedProgram(names, _with_line_end(signature_text), available, prompt)


def _typing_import(source: str) -> str:
    """Return the import of typing's names that starter code uses without one, as LeetCode's does."""
    names = undefined_names(statements(source)).intersection(typing.__all__)
    return f"from typing import {', '.join(sorted(names))}\n" if names else ""


_EMPTY_MODULE = ast.Module(body=[], type_ignores=[])
_NOT_FOUND = "keeps the code of the answer, which the official extraction does not find"
_NEEDLESS = "does not run tests and demonstrations of its own"


def _needed_lines(tree: ast.Module, names: tuple[str, ...]) -> list[str]:
    """Return a program's lines, as Python writes them, without what does nothing for a call of `names`."""
    nodes = [node for node in tree.body if not (names and is_main_guard(node))]
    return (unparse(nodes) or "").split("\n")


def _has_future_import(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)


def _describe_difference(tree: ast.Module, block: str, names: tuple[str, ...], dropped: list[ast.stmt]) -> str:
    """Return in words what a careful program does otherwise than the official code block.

    `dropped`: what the official assembly drops of the careful program.
    """
    block_tree = cached_tree(block)
    needed = set(_needed_lines(tree, names))
    if block_tree is None or not needed.issubset(_needed_lines(block_tree, names)):
        return _NOT_FOUND
    if not dropped:
        return _NEEDLESS
    variables = dict.fromkeys(
        part.id
        for node in dropped
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )
    return f"keeps top-level {', '.join(variables) or 'statements'}"


def head(signature_text: str, completion: str) -> str:
    """Return a program without its tests: the signature with an empty body, and the completion."""
    return f"{read_signature(signature_text).source.removesuffix(chr(10))}\n\n{completion}\n\n"


def _with_line_end(signature: str) -> str:
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


_KEPT_OFFICIALLY = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
"""The statements that the official assembly keeps."""
