"""`grade show --as-asked`: a task as a model sees it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import run
from tests.acceptance.command import grade

if TYPE_CHECKING:
    import pytest

SAMPLE = Path(__file__).parents[2] / "benchmarks"
VSTAR = SAMPLE / "vstar" / "sample"
HUMANEVAL = SAMPLE / "humaneval-v" / "sample" / "tasks.jsonl"


def test_the_prompt_and_the_image_are_those_that_infer_sends(tmp_path: Path) -> None:
    words = ["show", "vstar", "0", "--data", VSTAR / "questions.jsonl", "--image", tmp_path / "seen.png"]
    said = grade(*words, "--as-asked")
    assert said.returncode == 0
    prompt, _, rest = said.stdout.partition("\n\n")
    assert prompt == (
        "What is the color of the kite?\nA. red\nB. yellow\nC. blue\nD. green\n"
        "Answer with the option's letter from the given choices directly."
    )
    assert rest.startswith("image: image/png, 420 x 280 pixels, 2,252 bytes, SHA-256 55307567682d")
    assert (tmp_path / "seen.png").read_bytes() == (VSTAR / "images" / "0.png").read_bytes()


def test_a_mode_of_several_requests_and_one_without_an_image_say_so() -> None:
    words = ["show", "humaneval-v", "q1", "--data", HUMANEVAL, "--as-asked", "--mode"]
    assert "This is the first of 2 requests (description)." in grade(*words, "v2t2c").stdout
    assert "No image is sent." in grade(*words, "t2c").stdout


def test_a_benchmark_of_one_task_has_one(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text((VSTAR / "questions.jsonl").read_text().splitlines()[0])
    assert "\n1 question:\n0\n" in grade("show", "vstar", "--data", tmp_path / "one.jsonl").stdout


def test_list_takes_no_name_and_names_show() -> None:
    said = grade("list", "vstar")
    assert (said.returncode, said.stderr) == (
        2,
        "error: `grade list` lists all benchmarks. To see the settings and the ids of one, run `grade show vstar`.\n",
    )


def test_a_terminal_breaks_no_word_and_the_defaults_are_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    data = ["--data", str(VSTAR / "questions.jsonl")]
    assert run(["show", "vstar", *data]) == 0
    assert (
        "protocols, the default first: lmms-eval-0.7.1, lmms-eval-0.7.0, lmms-eval-0.6,\n  vlmevalkit-2026-06\n"
    ) in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["show", "vstar", "0", *data]) == 0
    assert "(D) green\n  Answer with" in capsys.readouterr().out


def test_a_benchmark_in_capitals_gets_the_right_spelling() -> None:
    said = grade("show", "VSTAR")
    assert (said.returncode, "Did you mean vstar?" in said.stderr) == (2, True)


def test_a_task_that_is_not_there_is_told() -> None:
    said = grade("show", "vstar", "99", "--data", VSTAR / "questions.jsonl", "--as-asked")
    assert (said.returncode, "the benchmark has no such question" in said.stderr) == (2, True)
