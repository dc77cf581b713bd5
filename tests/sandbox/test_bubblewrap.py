"""The start of a sandbox with bubblewrap."""

from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.observer import Silent
from grader.sandbox import bubblewrap
from grader.sandbox.interface import Limits

pytestmark = pytest.mark.bubblewrap
KILLED_ONCE = """#!/bin/sh
if [ ! -e {folder}/killed ]; then touch {folder}/killed; kill -9 $$; fi
exec {real} "$@"
"""


def _use(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bubblewrap.Bubblewrap:
    backend = bubblewrap.Bubblewrap(Limits(), Silent())
    path = folder / "bwrap"
    path.write_text(script.format(folder=folder, real=bubblewrap.executable()))
    path.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "executable", lambda: str(path))
    return backend


def test_a_sandbox_that_is_killed_while_it_starts_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = _use(KILLED_ONCE, tmp_path, monkeypatch)
    supervisor = backend.start(0)
    supervisor.close()
    assert supervisor.greeting["ready"]
    assert (tmp_path / "killed").exists()


def test_a_sandbox_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = _use("#!/bin/sh\necho no namespaces here >&2; exit 1\n", tmp_path, monkeypatch)
    with pytest.raises(InfrastructureError, match="no namespaces here"):
        backend.start(0)
