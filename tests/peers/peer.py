"""Loads single files of packages whose other requirements (torch, transformers, ...) are not installed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def loaded(package: str, file: str, **stubs: object) -> ModuleType:
    """Return a file of a package as a module; skip the test where there is no such package.

    `stubs` are the modules of its own package that it imports: "vlmeval__smp__log" for vlmeval.smp.log.
    """
    path = Path(sys.prefix) / package / file
    if not path.exists():
        pytest.skip(f"{package} could not be installed")
    for name, attributes in stubs.items():
        parts = name.split("__")
        for depth in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:depth]), ModuleType(parts[depth - 1]))
        vars(sys.modules[".".join(parts)]).update(attributes)
    spec = importlib.util.spec_from_file_location(file.removesuffix(".py").replace("/", "."), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
