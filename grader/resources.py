"""The installation: its version, and its folders in a wheel, in an editable install or in a bare checkout."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from grader.errors import InfrastructureError

VERSION = "0.1.0"
_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `name` that came with this installation; raises FileNotFoundError where it did not."""
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"this installation of grade has no {name} folder; install it again")


def cache_folder() -> Path:
    """Return the user's cache folder for grade (`$XDG_CACHE_HOME/grade`), created where it is missing."""
    path = Path(platformdirs.user_cache_dir("grade"))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"The cache folder {path} cannot be made ({error.strerror}); name another with XDG_CACHE_HOME."
        ) from error
    return path
