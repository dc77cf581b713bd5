"""The sandbox image: built at first use, tagged by its content, with the same packages on every base.

The base is the official Python image of the wanted version, because that is a part of a verdict: HumanEval-V's official
environments are 3.10 (v1) and 3.12 (v2). If no registry can be reached, a base with the same version is created from an
Ubuntu mirror; if this fails, too, from a Debian mirror, with Debian's Python version.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader import resources
from grader.errors import InfrastructureError
from grader.sandbox import packages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.observer import Observer

BaseKind = Literal["auto", "official", "debian"]
DEFAULT_PYTHON = "3.12"
DEBIAN_SUITE = "bookworm"
DEBIAN_BASE = f"grade-base-debian:{DEBIAN_SUITE}"
APT_SOURCES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources")
UBUNTU_KEYRING = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
UBUNTU_MIRRORS = {"x86_64": "http://archive.ubuntu.com/ubuntu", "aarch64": "http://ports.ubuntu.com/ubuntu-ports"}


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of one Python version."""

    pinned: str
    """The slim official image, by a digest that public Dockerfiles use."""
    ubuntu: str
    """The Ubuntu release with this version."""

    @property
    def ubuntu_base(self) -> str:
        """The name of the base image created from that release."""
        return f"grade-base-ubuntu:{self.ubuntu}"


BASES = {
    "3.12": Base(
        pinned="python@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254", ubuntu="noble"
    ),
    "3.10": Base(
        pinned="python@sha256:68d914ec641a0b69267ce65184d000a2bc3a9ee2590ab702b82250ab2385735a", ubuntu="jammy"
    ),
}
LOCAL_BASES = (DEBIAN_BASE, *(base.ubuntu_base for base in BASES.values()))


def base_image(client: Any, observer: Observer, kind: BaseKind, python: str | None) -> str:
    """Return the reference of a base image that the engine has; raises InfrastructureError.

    `auto` tries a registry, then Ubuntu (if a version is wanted), then Debian; the other kinds have one source each.
    `python` is the wanted version, `3.12`; None: any version.
    """
    wanted = BASES.get(python or DEFAULT_PYTHON)
    if kind != "debian" and wanted is not None and (exists(client, wanted.pinned) or _pull(client, observer, wanted)):
        return wanted.pinned
    if kind == "official":
        raise InfrastructureError(
            f"The registry did not provide {wanted.pinned if wanted else f'an image with Python {python}'}. If no "
            "registry can be reached, `grade image build --base debian` creates a base from a Debian mirror."
        )
    if kind == "auto":
        if python is not None and wanted is not None and _create_ubuntu_base(client, observer, wanted, python):
            return wanted.ubuntu_base
        observer.message(f"The registry did not provide it; the base is a Debian {DEBIAN_SUITE} instead")
    if not exists(client, DEBIAN_BASE):
        _create_debian_base(client, observer)
    return DEBIAN_BASE


def exists(client: Any, name: str) -> bool:
    """Whether the engine has an image."""
    return _get_image(client, name) is not None


def _get_image(client: Any, name: str) -> Any | None:
    import docker

    try:
        return client.images.get(name)
    except docker.errors.ImageNotFound:
        return None


def _pull(client: Any, observer: Observer, wanted: Base) -> bool:
    import docker
    import requests

    observer.message(f"Pulling {wanted.pinned}")
    try:
        client.images.pull(wanted.pinned)
    except (docker.errors.APIError, requests.exceptions.RequestException):
        return False
    return True


# --- bases created on this machine ------------------------------------------------------------------------------


def _create_ubuntu_base(client: Any, observer: Observer, wanted: Base, python: str) -> bool:
    """Create a base with the wanted Python from an Ubuntu mirror; return False if this is not possible."""
    import platform

    if exists(client, wanted.ubuntu_base):
        return True
    program, mirror = _debootstrap(), UBUNTU_MIRRORS.get(platform.machine())
    if program is None or mirror is None or not UBUNTU_KEYRING.is_file():
        observer.message(
            f"A base with Python {python} cannot be created here: this needs debootstrap and Ubuntu's keys "
            "(`apt-get install debootstrap ubuntu-keyring` if your distribution has them, then "
            f"`grade image build --python {python}`)"
        )
        return False
    observer.message(f"Creating an Ubuntu {wanted.ubuntu} base with Python {python} (some minutes)")
    options = [f"--keyring={UBUNTU_KEYRING}", "--components=main", "--include=python3"]
    try:
        _create_base(client, program, wanted.ubuntu_base, options, [mirror, _script(wanted.ubuntu)])
    except InfrastructureError as error:
        observer.message(str(error))
        return False
    return True


def _script(suite: str) -> str:
    """Return debootstrap's script for an Ubuntu release; for a newer release than it knows, the last known one."""
    folder = Path("/usr/share/debootstrap/scripts")
    return str(next((folder / name for name in (suite, "jammy", "gutsy") if (folder / name).exists()), folder / suite))


def _create_debian_base(client: Any, observer: Observer) -> None:
    """Create a minimal Debian with Python and import it as an image. Needs root and debootstrap."""
    program = _debootstrap()
    if program is None:
        raise InfrastructureError(
            "debootstrap is missing, so no Debian base can be created for the sandbox image. "
            "Install it (`apt-get install debootstrap`) and run `grade image build`, or use --sandbox bubblewrap."
        )
    observer.message(f"Creating a Debian {DEBIAN_SUITE} base with debootstrap (about a minute)")
    _create_base(client, program, DEBIAN_BASE, ["--include=python3"], _mirror())


def _debootstrap() -> str | None:
    return shutil.which("debootstrap") or shutil.which("debootstrap", path="/usr/sbin:/sbin")


def _create_base(client: Any, debootstrap: str, name: str, options: list[str], source: list[str]) -> None:
    """Create the image `name`, whose tag is a suite, from `source` (mirror, script); raises InfrastructureError."""
    repository, suite = name.split(":")
    with tempfile.TemporaryDirectory(prefix="grade-base-") as folder:
        root = Path(folder) / "root"
        command = [debootstrap, "--variant=minbase", "--force-check-gpg", *options, suite, str(root), *source]
        result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
        if result.returncode:
            tail = "\n".join(result.stdout.splitlines()[-4:] + result.stderr.splitlines()[-4:])
            raise InfrastructureError(
                f"debootstrap could not create a base image of {suite} (it needs root and a mirror).\n{tail}"
            )
        for waste in ("var/cache/apt", "var/lib/apt", "usr/share/doc", "usr/share/locale", "usr/share/man"):
            shutil.rmtree(root / waste, ignore_errors=True)
        with subprocess.Popen(  # noqa: S603 - our own words
            ["tar", "-C", str(root), "--one-file-system", "-c", "."],  # noqa: S607 - tar is tar
            stdout=subprocess.PIPE,
        ) as packed:
            client.api.import_image_from_stream(packed.stdout, repository=repository, tag=suite)


def _mirror() -> list[str]:
    """Return [the Debian mirror of this machine]; empty if it is not known, because debootstrap has a default."""
    for path in APT_SOURCES:
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        match = re.search(r"^(?:deb\s+(?:\[[^]]*\]\s+)?|URIs:\s*)(https?://\S+)", text, re.MULTILINE)
        if match and not re.search("security|ubuntu", match[1]):
            return [match[1]]
    return []


REPOSITORY = "grade-sandbox"
LABEL = "org.grade.sandbox"
PYTHON_LABEL = f"{LABEL}.python"


def lookup_tag(python: str | None = None, requirements: str = "") -> str:
    """Return the image's name to find it by.

    It depends on every file of sandbox_image, on the wanted Python, and on the text of a requirements file.
    """
    wanted = f"-for-python{python}" if python else ""
    return f"{REPOSITORY}:{packages.code_digest()}{wanted}{packages.suffix(requirements)}"


def version_tag(version: str, requirements: str = "") -> str:
    """Return the image's name that says which Python is inside."""
    return f"{REPOSITORY}:{packages.code_digest()}-python{version}{packages.suffix(requirements)}"


def find(client: Any, python: str | None = None, requirements: str = "") -> Any | None:
    """Return the image if it is built, else None."""
    return _get_image(client, lookup_tag(python, requirements))


def python_of(labels: Mapping[str, str] | None) -> str:
    """Return the Python version of an image, from the label that its build wrote."""
    return str((labels or {}).get(PYTHON_LABEL, "unknown"))


def ensure(client: Any, observer: Observer, python: str | None = None, requirements: str = "") -> Any:
    """Return the image, built now if it is missing; raises InfrastructureError.

    One with `requirements` is never built here: raises NotBuiltError if it is missing.
    """
    import docker
    import requests

    try:
        if requirements:
            if (built := find(client, python, requirements)) is None:
                raise packages.NotBuiltError
            return built
        with packages.file_lock(resources.cache_folder() / "image.lock"):
            return find(client, python) or build(client, observer, python=python)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise InfrastructureError(
            f"The sandbox image could not be built: {' '.join(str(error).split())[:400]}. "
            "`grade doctor` shows what the engine has; --sandbox bubblewrap needs no image."
        ) from error


def build(
    client: Any, observer: Observer, base: BaseKind = "auto", python: str | None = None, requirements: str = ""
) -> Any:
    """Build the image on the wanted base; `auto` uses the official Python image if a registry has it.

    `requirements`: the text of a requirements file, whose packages are added.
    """
    reference = base_image(client, observer, base, python)
    version = _python_of(client, reference)
    observer.message(f"Building the sandbox image on {reference} (Python {version})")
    major, minor = version.split(".")[:2]
    site = packages.prepare((int(major), int(minor)), observer, requirements=requirements)
    # The image compiles the packages if they have no byte code yet.
    uncompiled = "" if packages.is_compiled(site) else "/opt/grade-site"
    with tempfile.TemporaryFile() as context:
        _write_context(context, site)
        context.seek(0)
        image, _ = client.images.build(
            fileobj=context,
            custom_context=True,
            tag=lookup_tag(python, requirements),
            buildargs={"BASE": reference, "UNCOMPILED": uncompiled},
            labels={LABEL: "image", PYTHON_LABEL: version},
            network_mode="none",
            rm=True,
            forcerm=True,
        )
    image.tag(version_tag(version, requirements))
    observer.message(f"Built {version_tag(version, requirements)}")
    return image


def clean(client: Any, *, with_local_bases: bool = False) -> list[str]:
    """Remove all sandbox images (with `with_local_bases` also the bases created from a mirror); return their names."""
    removed = []
    for image in client.images.list(filters={"label": LABEL}):
        for name in image.tags or [image.id]:
            client.images.remove(name, force=True)
            removed.append(name)
    for name in LOCAL_BASES if with_local_bases else ():
        if exists(client, name):
            client.images.remove(name, force=True)
            removed.append(name)
    return removed


def _write_context(file: Any, site: Path) -> None:
    folder = resources.folder("sandbox_image")
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(folder / "Dockerfile", "Dockerfile", filter=_without_owner)
        for name, path in packages.code_files():
            archive.add(path, f"runner/{name}", filter=_without_owner)
        archive.add(site, "site", filter=_without_owner)


def _without_owner(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Make the image independent of the user who builds it, and readable by every user inside."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mode |= 0o755 if info.isdir() else 0o444
    return info


def _python_of(client: Any, reference: str) -> str:
    """Return the Python version of the base, for example `3.12.7`."""
    output = client.containers.run(
        reference,
        ["-c", "import platform; print(platform.python_version())"],
        entrypoint="python3",
        network_mode="none",
        remove=True,
        labels={LABEL: "probe"},
    )
    return bytes(output).decode("ascii", "replace").strip()
