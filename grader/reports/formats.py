"""The choice of a format by a file's extension."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def load(name: str, formats: Mapping[str, str], refusal: str) -> Callable[..., Any]:
    """Return the function `make` of the module that writes a file of this name.

    `formats`: extension -> module, imported only when it is used. The name `-` (standard output) means JSON.
    Raises UsageError for an unknown extension, with the text `refusal`; its `{formats}` becomes the known extensions.
    """
    extension = ".json" if name == "-" else PurePath(name).suffix.lower()
    if extension not in formats:
        raise UsageError(f"-o {name}: " + refusal.format(formats=", ".join(formats)))
    make: Callable[..., Any] = import_module(formats[extension]).make
    return make
