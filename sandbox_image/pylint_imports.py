"""Import pylint without what errors and fatal messages do not need: other packages, and checkers of other messages.

This halves the time of the import. It is written for the locked version of pylint.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

UNUSED = ("isort", "isort.api", "isort.settings", "tomlkit", "dill")
"""Packages that sort imports, write a config file, and send a linter to another process."""
OPTIONAL = ("multiprocessing", "concurrent.futures")
"""Modules of parallel linting. pylint can do without."""
CHECKERS_WITHOUT_ERRORS = frozenset({
    "bad_chained_comparison", "design_analysis", "dunder_methods", "ellipsis_checker", "format", "lambda_expressions",
    "misc", "nested_min_max", "non_ascii_names", "raw_metrics", "refactoring", "spelling", "symilar",
    "threading_checker", "unsupported_version",
})  # fmt: skip
"""Modules of `pylint.checkers` whose messages are all warnings, refactorings and conventions."""


class _Unused(types.ModuleType):
    """Stands for a module until something in it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_pylint() -> None:
    """Import `pylint.lint`."""
    with _left_out():
        import pylint.lint  # noqa: F401 - this is where pylint imports the others


@contextlib.contextmanager
def _left_out() -> Iterator[None]:
    stand_ins: dict[str, Any] = {name: _Unused(name) for name in UNUSED} | dict.fromkeys(OPTIONAL)
    stand_ins = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    for name, module in stand_ins.items():
        # `import isort.api` looks for `api` in `isort`.
        parent, _, child = name.rpartition(".")
        if module and parent in stand_ins:
            setattr(stand_ins[parent], child, module)
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def load_checkers(linter: Any) -> None:
    """Load the checkers that have errors or fatal messages, in the order in which `linter` would load them."""
    from pylint.utils import utils

    module: Any = utils
    listing = types.SimpleNamespace(**vars(os))
    listing.listdir = lambda folder: [
        name for name in os.listdir(folder) if os.path.splitext(name)[0] not in CHECKERS_WITHOUT_ERRORS
    ]
    module.os = listing
    try:
        linter.load_default_plugins()
    finally:
        module.os = os
