"""Make parts of a library's tree when they are first read. Most of them are never read.

Until then, a function of the tree lacks some attributes. Its `__dict__` has a function that makes them.
"""

from __future__ import annotations

import contextlib
import types
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEY = "_deferred"
"""The attribute with the function that makes a node's missing attributes."""
OF_C = {
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
}  # fmt: skip
"""The types of functions that are written in C."""


def allow() -> None:
    """Let the functions of trees have missing attributes."""
    from astroid import nodes

    setattr(nodes.FunctionDef, "__getattr__", _make)  # noqa: B010 - mypy knows no such method of this class


def _make(node: Any, name: str) -> Any:
    """Make the missing attributes; called if an attribute is not found."""
    make: Callable[[Any], None] | None = node.__dict__.pop(KEY, None)
    if make is None:
        raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")
    try:
        make(node)
    except BaseException:
        # A program can make this fail, for example at the limit of recursion. The next program needs the attributes.
        node.__dict__[KEY] = make
        raise
    return getattr(node, name)


def describe_functions_later() -> None:
    """Make the arguments, the text and the class of a function of C when they are first read.

    The built-in classes have thousands of such functions, and with their parts they take most of the time for the tree.
    """
    from astroid import nodes, raw_building

    raw: Any = raw_building
    describe_now = raw.object_build_methoddescriptor
    complete = raw.build_function("", doc="")
    bare = {key: value for key, value in vars(complete).items() if key not in {"args", "doc_node", "instance_attrs"}}
    fresh = [key for key, value in bare.items() if isinstance(value, (dict, list))]

    def object_build_methoddescriptor(node: Any, member: Any, localname: str) -> None:
        if type(member) not in OF_C:
            describe_now(node, member, localname)
            return
        name = getattr(member, "__name__", None) or localname
        text = member.__doc__
        func = nodes.FunctionDef.__new__(nodes.FunctionDef)
        attributes = func.__dict__
        attributes.update(bare)
        for key in fresh:
            attributes[key] = type(bare[key])()
        attributes["name"] = name
        attributes[KEY] = describe(member, name, text)
        node.add_local_node(func, localname)

    def describe(member: Any, name: str, text: str | None) -> Callable[[Any], None]:
        def make(func: Any) -> None:
            whole = raw.build_function(name, doc=text)
            raw._add_dunder_class(whole, member)
            whole.args.parent = func
            for key in ("args", "doc_node", "instance_attrs"):
                setattr(func, key, vars(whole)[key])

        return make

    raw.object_build_methoddescriptor = object_build_methoddescriptor
    _filter_warnings_once(raw)


def _filter_warnings_once(raw: Any) -> None:
    """Ignore warnings for a whole module of C. astroid changes the filters for each of its names, and back."""
    build = raw.InspectBuilder.inspect_build

    def inspect_build(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return build(*args, **kwargs)

    raw.InspectBuilder.inspect_build = inspect_build
    raw.warnings = types.SimpleNamespace(catch_warnings=contextlib.nullcontext, simplefilter=lambda _: None)
