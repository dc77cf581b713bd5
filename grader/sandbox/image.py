"""The sandbox image: built on first use, tagged by what is in it, the same packages whichever base it stands on."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grader import resources
from grader.errors import InfrastructureError
from grader.sandbox import packages

if TYPE_CHECKING:
    from grader.observer import Observer

REPOSITORY = "grade-sandbox"
# python:3.12-slim-bookworm, by the digest under which public Dockerfiles pin it.
OFFICIAL_PINNED = "python@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254"
DEBIAN_SUITE = "bookworm"
DEBIAN_BASE = f"grade-base-debian:{DEBIAN_SUITE}"
LABEL = "org.grade.sandbox"
BaseKind = Literal["auto", "official", "debian"]


def tag() -> str:
    """Return the image's name: it changes with every file of sandbox_image."""
    return f"{REPOSITORY}:{packages.code_digest()}"


def find(client: Any) -> Any | None:
    """Return the image if it is built, else None."""
    import docker

    try:
        return client.images.get(tag())
    except docker.errors.ImageNotFound:
        return None


def ensure(client: Any, observer: Observer) -> Any:
    """Return the image, built now if it is not there; raises InfrastructureError."""
    import docker
    import requests

    try:
        with packages.exclusive(resources.cache_folder() / "image.lock"):
            return find(client) or build(client, observer)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise InfrastructureError(
            f"The sandbox image could not be built: {' '.join(str(error).split())[:400]}. "
            "`grade doctor` shows what the engine has; --sandbox bubblewrap needs no image."
        ) from error


def build(client: Any, observer: Observer, base: BaseKind = "auto") -> Any:
    """Build the image on the wanted base; `auto` takes the official Python image where a registry answers."""
    reference = _base(client, observer, base)
    python = _python_of(client, reference)
    observer.message(f"Building the sandbox image on {reference} (Python {python[0]}.{python[1]})")
    site = packages.prepare(python, observer)
    with tempfile.TemporaryFile() as context:
        _write_context(context, site)
        context.seek(0)
        image, _ = client.images.build(
            fileobj=context,
            custom_context=True,
            tag=tag(),
            buildargs={"BASE": reference},
            labels={LABEL: "image"},
            network_mode="none",
            rm=True,
            forcerm=True,
        )
    observer.message(f"Built {tag()}")
    return image


def clean(client: Any, *, bases: bool = False) -> list[str]:
    """Remove every sandbox image (and with `bases` the imported Debian base); return their names."""
    removed = []
    for image in client.images.list(filters={"label": LABEL}):
        for name in image.tags or [image.id]:
            client.images.remove(name, force=True)
            removed.append(name)
    if bases and _exists(client, DEBIAN_BASE):
        client.images.remove(DEBIAN_BASE, force=True)
        removed.append(DEBIAN_BASE)
    return removed


def _write_context(file: Any, site: Path) -> None:
    folder = resources.folder("sandbox_image")
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(folder / "Dockerfile", "Dockerfile", filter=_anonymous)
        for path in sorted(folder.glob("*.py")):
            archive.add(path, f"runner/{path.name}", filter=_anonymous)
        archive.add(site, "site", filter=_anonymous)


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Make the image's content independent of who built it, and readable by every user in it."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mode |= 0o755 if info.isdir() else 0o444
    return info


def _exists(client: Any, name: str) -> bool:
    import docker

    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def _base(client: Any, observer: Observer, kind: BaseKind) -> str:
    """Return the reference of a base image that is present on the engine."""
    if kind != "debian" and (_exists(client, OFFICIAL_PINNED) or _pull(client, observer)):
        return OFFICIAL_PINNED
    if kind == "official":
        raise InfrastructureError(
            f"The registry did not give {OFFICIAL_PINNED}. Where no registry can be reached, "
            "`grade image build --base debian` makes a base from a Debian mirror."
        )
    if kind == "auto":
        observer.message(f"The registry did not give it; the base is a Debian {DEBIAN_SUITE} instead")
    if not _exists(client, DEBIAN_BASE):
        _import_debian(client, observer)
    return DEBIAN_BASE


def _pull(client: Any, observer: Observer) -> bool:
    import docker
    import requests

    observer.message(f"Pulling {OFFICIAL_PINNED}")
    try:
        client.images.pull(OFFICIAL_PINNED)
    except (docker.errors.APIError, requests.exceptions.RequestException):
        return False
    return True


def _import_debian(client: Any, observer: Observer) -> None:
    """Make a minimal Debian with Python and import it as an image. Needs root and debootstrap."""
    program = shutil.which("debootstrap") or shutil.which("debootstrap", path="/usr/sbin:/sbin")
    if program is None:
        raise InfrastructureError(
            "debootstrap is missing, so no Debian base can be made for the sandbox image. "
            "Install it (`apt-get install debootstrap`) and run `grade image build`, or use --sandbox bubblewrap."
        )
    observer.message(f"Making a Debian {DEBIAN_SUITE} base with debootstrap (about a minute)")
    with tempfile.TemporaryDirectory(prefix="grade-base-") as folder:
        root = Path(folder) / "root"
        command = [program, "--variant=minbase", "--include=python3", DEBIAN_SUITE, str(root), *_mirror()]
        result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
        if result.returncode:
            tail = "\n".join(result.stdout.splitlines()[-4:] + result.stderr.splitlines()[-4:])
            raise InfrastructureError(
                f"debootstrap could not make a base image (it needs root and a Debian mirror).\n{tail}"
            )
        for waste in ("var/cache/apt", "var/lib/apt", "usr/share/doc", "usr/share/locale", "usr/share/man"):
            shutil.rmtree(root / waste, ignore_errors=True)
        with subprocess.Popen(  # noqa: S603 - our own words
            ["tar", "-C", str(root), "--one-file-system", "-c", "."],  # noqa: S607 - tar is tar
            stdout=subprocess.PIPE,
        ) as packed:
            name, version = DEBIAN_BASE.split(":")
            client.api.import_image_from_stream(packed.stdout, repository=name, tag=version)


def _mirror() -> list[str]:
    """Return the mirror this machine installs from, if it can be told; debootstrap has a default of its own."""
    for path in ("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"):
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(r"^(?:deb\s+(?:\[[^]]*\]\s+)?|URIs:\s*)(https?://\S+)", text, re.MULTILINE)
        if found and "security" not in found[1]:
            return [found[1]]
    return []


def _python_of(client: Any, reference: str) -> tuple[int, int]:
    """Ask the base which Python it has."""
    said = client.containers.run(
        reference,
        ["-c", "import sys; print(sys.version_info[0], sys.version_info[1])"],
        entrypoint="python3",
        network_mode="none",
        remove=True,
        labels={LABEL: "probe"},
    )
    major, minor = io.BytesIO(said).read().split()
    return int(major), int(minor)
