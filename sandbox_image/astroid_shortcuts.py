"""Make astroid, pylint's parser, faster. Its trees stay the same.

This is written for the locked version. tests/sandbox/test_shortcuts.py compares the messages with those of a pylint
without these shortcuts.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_TREES = 16


class Arrays:
    """Trees of NumPy's array class. astroid builds one from a text of 140 lines for every array that it infers.

    Here each program gets the trees of the program before it, in the same order. No program gets a tree twice.
    """

    def __init__(self) -> None:
        from astroid.brain import brain_numpy_ndarray
        from astroid.inference_tip import clear_inference_tip_cache

        module: Any = brain_numpy_ndarray
        self._build = module.extract_node
        module.extract_node = self._next
        # astroid remembers which tree it has inferred from a node of another tree.
        self._forget = clear_inference_tip_cache
        self._trees: list[Any] = []
        self._used = 0
        self.is_unchanged = True
        """False after an assignment to an attribute, because it may have added the attribute to a tree."""

    def begin(self) -> None:
        """Begin a program."""
        if self._used:
            self._forget()
        if not self.is_unchanged:
            self._trees.clear()
        self._used, self.is_unchanged = 0, True

    def _next(self, text: str) -> Any:
        if not self.is_unchanged or self._used >= MAX_TREES:
            return self._build(text)
        if self._used == len(self._trees):
            self._trees.append(self._build(text))
        self._used += 1
        return self._trees[self._used - 1]


def transform_quickly() -> None:
    """For each node, test only the transforms whose condition can be true of a node with its name."""
    from astroid import MANAGER, nodes
    from astroid.brain import brain_builtin_inference, brain_numpy_utils

    visitor: Any = MANAGER._transform
    names = _ByName(visitor, nodes.Name, brain_numpy_utils.name_looks_like_numpy_member)
    attributes = _ByName(visitor, nodes.Attribute, brain_numpy_utils.attribute_looks_like_numpy_member)
    calls = _ByName(visitor, nodes.Call, brain_builtin_inference._builtin_filter_predicate)
    every, transform_all, visit_generic = visitor.transforms, visitor._transform, visitor._visit_generic

    def wanted(node: Any) -> list[Any] | None:
        """Return the transforms to test; None: all."""
        kind = node.__class__
        if kind is nodes.Name:
            return names.of(node.name)
        if kind is nodes.Attribute:
            return attributes.of(node.attrname)
        if kind is not nodes.Call:
            return every.get(kind, [])  # type: ignore[no-any-return]
        called = node.func
        if isinstance(called, nodes.Attribute):
            return None if called.attrname == "fromkeys" else calls.of(None)
        return calls.of(called.name if isinstance(called, nodes.Name) else None)

    def transform(node: Any) -> Any:
        asked = wanted(node)
        if asked is not None and not any(predicate is None or predicate(node) for _, predicate in asked):
            return node
        return transform_all(node)

    def visit(node: Any) -> Any:
        """Visit the children, then transform the node, as the visitor's own method does."""
        for name in node._astroid_fields:
            value = getattr(node, name)
            kind = value.__class__
            if value is None or kind is str:
                continue
            if kind is list:
                visited = [visit_child(child) for child in value]
                if visited != value:
                    setattr(node, name, visited)
            elif (new := visit_child(value)) is not value:
                setattr(node, name, new)
        return transform(node)

    def visit_child(value: Any) -> Any:
        try:
            # A tuple is a key and a value of a dictionary.
            return visit(value) if isinstance(value, nodes.NodeNG) else visit_generic(value)
        except RecursionError:
            return value

    visitor._transform, visitor._visit = transform, visit


class _ByName:
    """The transforms of one class of nodes, by the name that their condition requires."""

    def __init__(self, visitor: Any, kind: type[Any], predicate: Any) -> None:
        self._all = visitor.transforms[kind]
        self._named = [_name_in(condition, predicate) for _, condition in self._all]
        self._by_name: dict[str | None, list[Any]] = {None: self._select(None)}

    def _select(self, name: str | None) -> list[Any]:
        return [t for t, named in zip(self._all, self._named, strict=True) if named is None or named == name]

    def of(self, name: str | None) -> list[Any]:
        """Return the transforms that may apply to a node with this name, in their order."""
        if name not in self._by_name:
            if name not in self._named:
                return self._by_name[None]
            self._by_name[name] = self._select(name)
        return self._by_name[name]


def _name_in(condition: Any, predicate: Any) -> str | None:
    """Return the name that a condition requires, if it is a partial call of `predicate`."""
    if not isinstance(condition, functools.partial) or condition.func is not predicate:
        return None
    words = [*condition.args, *condition.keywords.values()]
    return str(words[0])
