"""The settings of a pool: which are accepted, and when two pools are the same one."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.errors import InfrastructureError, UsageError
from grader.pool import settings, starting
from grader.pool.settings import PoolSettings, settings_of


def made(**given: Any) -> PoolSettings:
    return settings_of(given, private_name="", linger=1.0)


def test_pools_with_the_same_settings_have_the_same_name(tmp_path: Path) -> None:
    assert made(benchmark="vstar", memory="1g").name == made(memory=1 << 30, benchmark="vstar").name
    assert made(benchmark="vstar").name != made(benchmark="mmbench").name


def test_another_installation_of_the_same_version_or_a_changed_one_has_its_own_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {made(benchmark="vstar").name}
    monkeypatch.setattr(settings, "PACKAGE", tmp_path)
    monkeypatch.setattr(settings, "code_hash", settings.code_hash.__wrapped__)
    for text in ("", "changed = True"):
        (tmp_path / "module.py").write_text(text)
        names.add(made(benchmark="vstar").name)
    assert len(names) == 3


def test_other_data_under_the_same_name_has_its_own_process(tmp_path: Path) -> None:
    """Else its samples would be judged by the tasks that were there before."""
    own, data = tmp_path / "own", tmp_path / "tasks.jsonl"
    (own / "data").mkdir(parents=True)
    names = []
    for path in (own / "benchmark.toml", own / "data" / "tasks.jsonl", data):
        for text in ("a task", "another task"):
            path.write_text(text)
            names.append(made(benchmark=str(own), data=data).name)
    assert len(set(names)) == len(names)
    (own / "gone").symlink_to("nowhere")
    assert names[-1] == made(benchmark=str(own), data=data).name


def test_paths_mean_the_same_in_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    settings = made(benchmark="own", data="tasks.jsonl")
    assert settings.options.data == tmp_path / "tasks.jsonl"
    assert settings.options.benchmark == str(tmp_path / "own")
    (tmp_path / "own" / "benchmark.toml").touch()
    assert made(benchmark="own/benchmark.toml").options.benchmark == str(tmp_path / "own" / "benchmark.toml")
    (tmp_path / "vstar").mkdir()
    assert made(benchmark="vstar").options.benchmark == "vstar"  # as in a run, an id comes before a folder


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": 3}, "limit is an option of a run over a prediction file"),
        ({"benchmrk": "vstar"}, "no option 'benchmrk'; it has wait, shared, linger, reward, benchmark, "),
        ({"executor": "ray"}, "executor is an option of a run"),
        ({"benchmark": "mr-ben", "judge_replies": "replies.json"}, "judge_replies is an option of a run"),
    ],
)
def test_what_a_pool_cannot_take_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**given)


@pytest.mark.parametrize("own", [{"linger": -1}, {"linger": "yes"}, {"reward": "all"}])
def test_a_keyword_of_the_wrong_type_is_refused_before_the_process_starts(own: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(own))):
        grader.Pool(benchmark="rows", **own)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_that_others_can_enter_is_refused(temporary: Path) -> None:
    assert starting.pool_folder().stat().st_mode & 0o777 == 0o700
    starting.pool_folder().chmod(0o755)
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        starting.pool_folder()


def test_a_link_in_its_place_is_refused(temporary: Path) -> None:
    folder = starting.pool_folder()
    folder.rename(temporary / "elsewhere")
    folder.symlink_to(temporary / "elsewhere")
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        starting.pool_folder()


def test_a_path_that_is_too_long_for_a_socket_is_refused(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = temporary / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(InfrastructureError, match="TMPDIR"):
        starting.socket_path("name")


def test_one_holds_the_lock_at_a_time(temporary: Path) -> None:
    with (
        starting.start_lock("a", 0) as held,
        starting.start_lock("a", 0) as second,
        starting.start_lock("b", 0) as other,
    ):
        assert (held, second, other) == (True, False, True)
    with starting.start_lock("a", 0) as held:
        assert held
