"""The sandbox image: built at first use, tagged by its content, with the same packages on every base."""

from __future__ import annotations

import tarfile
import tempfile
from typing import TYPE_CHECKING, Any

from grader import resources
from grader.errors import InfrastructureError
from grader.sandbox import bases, packages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grader.observer import Observer
    from grader.sandbox.bases import BaseKind

REPOSITORY = "grade-sandbox"
LABEL = "org.grade.sandbox"
PYTHON_LABEL = f"{LABEL}.python"


def tag(python: str | None = None) -> str:
    """Return the name to find the image by: it depends on every file of sandbox_image and on the wanted Python."""
    return f"{REPOSITORY}:{packages.code_digest()}{f'-for-python{python}' if python else ''}"


def name(version: str) -> str:
    """Return the image's name that says which Python is inside."""
    return f"{REPOSITORY}:{packages.code_digest()}-python{version}"


def find(client: Any, python: str | None = None) -> Any | None:
    """Return the image if it is built, else None."""
    import docker

    try:
        return client.images.get(tag(python))
    except docker.errors.ImageNotFound:
        return None


def python_of(labels: Mapping[str, str] | None) -> str:
    """Return the Python version of an image, from the label that its build wrote."""
    return str((labels or {}).get(PYTHON_LABEL, "unknown"))


def ensure(client: Any, observer: Observer, python: str | None = None) -> Any:
    """Return the image, built now if it is missing; raises InfrastructureError."""
    import docker
    import requests

    try:
        with packages.exclusive(resources.cache_folder() / "image.lock"):
            return find(client, python) or build(client, observer, python=python)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise InfrastructureError(
            f"The sandbox image could not be built: {' '.join(str(error).split())[:400]}. "
            "`grade doctor` shows what the engine has; --sandbox bubblewrap needs no image."
        ) from error


def build(client: Any, observer: Observer, base: BaseKind = "auto", python: str | None = None) -> Any:
    """Build the image on the wanted base; `auto` uses the official Python image if a registry has it."""
    reference = bases.find(client, observer, base, python)
    version = _python_of(client, reference)
    observer.message(f"Building the sandbox image on {reference} (Python {version})")
    major, minor = version.split(".")[:2]
    site = packages.prepare((int(major), int(minor)), observer)
    with tempfile.TemporaryFile() as context:
        _write_context(context, site)
        context.seek(0)
        image, _ = client.images.build(
            fileobj=context,
            custom_context=True,
            tag=tag(python),
            buildargs={"BASE": reference, "UNCOMPILED": "" if packages.is_compiled(site) else "/opt/grade-site"},
            labels={LABEL: "image", PYTHON_LABEL: version},
            network_mode="none",
            rm=True,
            forcerm=True,
        )
    image.tag(name(version))
    observer.message(f"Built {name(version)}")
    return image


def clean(client: Any, *, made_here: bool = False) -> list[str]:
    """Remove all sandbox images (with `made_here` also the bases created from a mirror); return their names."""
    removed = []
    for image in client.images.list(filters={"label": LABEL}):
        for name in image.tags or [image.id]:
            client.images.remove(name, force=True)
            removed.append(name)
    for name in bases.MADE_HERE if made_here else ():
        if bases.exists(client, name):
            client.images.remove(name, force=True)
            removed.append(name)
    return removed


def _write_context(file: Any, site: Path) -> None:
    folder = resources.folder("sandbox_image")
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(folder / "Dockerfile", "Dockerfile", filter=_anonymous)
        for name, path in packages.code_files():
            archive.add(path, f"runner/{name}", filter=_anonymous)
        archive.add(site, "site", filter=_anonymous)


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Make the image independent of the user who builds it, and readable by every user inside."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mode |= 0o755 if info.isdir() else 0o444
    return info


def _python_of(client: Any, reference: str) -> str:
    """Return the Python version of the base, for example `3.12.7`."""
    said = client.containers.run(
        reference,
        ["-c", "import platform; print(platform.python_version())"],
        entrypoint="python3",
        network_mode="none",
        remove=True,
        labels={LABEL: "probe"},
    )
    return bytes(said).decode("ascii", "replace").strip()
