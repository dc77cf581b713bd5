"""What a judge is asked about multiple-choice replies, and what its own replies do."""

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.results import READINGS, JudgeProvenance, Outcome
from tests.conftest import ROOT
from tests.models.server import ModelServer, say
from tests.reports.shown import as_file, on_terminal
from tests.scorers.choice.made import answers, overall, predictions, rolled, row, run, table


def asked_about(server: ModelServer) -> list[str]:
    """The model's answers that the judge was shown."""
    return sorted(a.prompt.split("BEGIN ANSWER", 1)[1].split("\n")[1] for a in server.asked)


def test_the_judge_is_asked_only_what_is_unread_and_can_still_matter(tmp_path: Path) -> None:
    rows = (
        rolled(1, "red|blue", "A")  # unread twice: both are asked
        + rolled(2, "red|blue", "A")  # decided by a wrong letter: not asked
        + rolled(3, "red|blue", "A")  # read officially by nobody, carefully by anyone: asked for the official reading
        + rolled(4, "red|blue", "A")  # a refusal and an unfinished thought are read: no answer
    )
    data = table(tmp_path / "q.tsv", rows)
    path = predictions(tmp_path, {
        "1": "like a tomato", "1000001": "like a cherry",
        "2": "B", "1000002": "like a rose",
        "3": "<answer>A</answer>", "1000003": "B",
        "4": "I'm sorry, but without the image provided I cannot say.", "1000004": "like fire",
    })  # fmt: skip
    with ModelServer(lambda asked: say("B" if "cherry" in asked.prompt else "A")) as server:
        report = run(path, data, judge_model="m", judge_base_url=server.url)
    assert asked_about(server) == ["<answer>A</answer>", "like a cherry", "like a tomato"]
    assert overall(report, "circular_accuracy") == (50, 50)
    assert answers(report, "official") == {
        "1": "A", "1000001": "B", "2": "B", "1000002": None, "3": "A", "1000003": "B", "4": None, "1000004": None,
    }  # fmt: skip
    assert answers(report, "careful") == answers(report, "official")
    assert [s.careful.rule for s in report.samples if s.qid in {"1", "3"}] == ["judge", "answer_tag"]
    assert report.provenance.judge == JudgeProvenance(
        source="endpoint", model="m", endpoint=server.url, questions=3, calls=3, prompt_tokens=33, completion_tokens=6
    )
    assert [note.text for note in report.notes] == [
        "Not read by rule: 2 of 8 replies (25.0 %). They count as not answered in the careful reading.",
        "A judge decided 3 of 8 samples (3 correct) of the official reading, and 2 of 8 samples (2 correct) of the "
        "careful one.",
        f"Judge m at {server.url}: 3 calls, 0 replies from the cache; 33 prompt and 6 completion tokens.",
    ]


def test_vlmevalkits_judge_cannot_choose_an_option_that_its_table_has_lost(tmp_path: Path) -> None:
    rows = [row(1, "None|red|blue|green", "A"), row(2, "None|red|blue|green", "B")]
    data, path = table(tmp_path / "q.tsv", rows), predictions(tmp_path, {"1": "nothing at all", "2": "like a tomato"})
    with ModelServer.playing(say("A")) as server:
        report = run(path, data, judge_model="m", judge_base_url=server.url)
    assert answers(report, "careful") == {"1": "A", "2": "A"}
    assert answers(report, "official") == {"1": None, "2": None}
    assert [s.official.outcome for s in report.samples] == [Outcome.NO_ANSWER, Outcome.NO_ANSWER]


def test_a_run_without_a_judge_says_what_is_missing_in_its_official_value(tmp_path: Path) -> None:
    rows = [row(1, "red|blue", "A"), row(2, "red|blue", "B")]
    data, path = table(tmp_path / "q.tsv", rows), predictions(tmp_path, {"1": "like a tomato", "2": "B"})
    without = run(path, data)
    (note,) = [note.text for note in without.notes if note.kind == "official"]
    assert "For this reason, 1 of 2 replies got no official credit." in note
    assert "official †" in on_terminal(without)
    assert "| official † |" in as_file("x.md", without).decode()
    with ModelServer.playing(say("A")) as server:
        report = run(path, data, judge_model="m", judge_base_url=server.url)
    assert not [note for note in report.notes if note.kind == "official"]


def test_a_chinese_question_is_asked_about_in_chinese(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", [row(1, "红色|蓝色", "A") | {"question": "什么颜色"}])
    with ModelServer.playing(say("A")) as server:
        run(predictions(tmp_path, {"1": "像番茄一样"}), data, judge_model="m", judge_base_url=server.url)
    assert "什么颜色" in server.asked[0].prompt
    assert "A. 红色\nB. 蓝色" in server.asked[0].prompt
    assert "选项" in server.asked[0].prompt


def test_a_declared_template_replaces_the_wording(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", [row(1, "red|blue", "A")])
    path = predictions(tmp_path, {"1": "like a tomato"})
    declaration = (ROOT / "benchmarks" / "mmbench" / "benchmark.toml").read_text()
    (tmp_path / "benchmark.toml").write_text(f'judge_prompt = "{{question}}|{{options}}"\n{declaration}')
    with pytest.raises(InputError, match=r"benchmark\.toml: judge_prompt: the placeholder \{answer\} is missing"):
        run(path, data, str(tmp_path))
    (tmp_path / "benchmark.toml").write_text(f'judge_prompt = "{{question}}|{{options}}|{{answer}}"\n{declaration}')
    with ModelServer.playing(say("A")) as server:
        run(path, data, str(tmp_path), judge_model="m", judge_base_url=server.url)
    assert server.asked[0].prompt.startswith("Which?|A. red\nB. blue|-----")


def test_a_judge_that_cannot_be_read_is_asked_three_times_and_then_the_pass_is_unscored(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", rolled(1, "red|blue", "A") + rolled(2, "red|blue", "A"))
    path = predictions(tmp_path, {"1": "like a tomato", "1000001": "B", "2": "A", "1000002": "B"})
    with ModelServer.playing(say("I would rather not")) as server:
        report = run(path, data, judge_model="m", judge_base_url=server.url)
    assert [a.temperature for a in server.asked] == [0.0, 0.5, 1.0]
    assert report.unscored == 1
    nothing = "0 of 4 samples (0 correct) of the"
    assert f"A judge decided {nothing} official reading, and {nothing} careful one." in [
        note.text for note in report.notes
    ]
    lost = report.samples[0]
    assert (lost.official.outcome, lost.careful.outcome) == ("unscored", "unscored")
    assert lost.official.detail.startswith("the rules read no letter, and the judge gave none (no readable reply in 3 ")
    for reading in READINGS:
        metric = report.metric("circular_accuracy", reading)
        assert metric
        assert (metric.value, metric.n, metric.bounds) == (100, 1, (50, 100))


def test_the_judges_none_of_them_is_no_answer_and_its_letter_is_a_letter_even_as_an_options_text(
    tmp_path: Path,
) -> None:
    data = table(tmp_path / "q.tsv", [row(1, "B|A|D|C", "B"), row(2, "B|A|D|C", "B")])
    path = predictions(tmp_path, {"1": "the first of the alphabet", "2": "some rune"})
    replies = tmp_path / "replies.json"
    replies.write_text('{"1": "B", "2": "Z"}')
    report = run(path, data, judge_replies=replies)
    got = [[(r.outcome, r.answer) for r in (s.official, s.careful)] for s in report.samples]
    assert got == [[("correct", "B")] * 2, [("no_answer", None)] * 2]
    assert report.provenance.judge == JudgeProvenance(source="replies from replies.json")


@pytest.mark.parametrize("name", ["vstar", "mmlu-pro"])
def test_every_multiple_choice_benchmark_has_a_judge_for_what_careful_cannot_read(name: str, tmp_path: Path) -> None:
    sample = ROOT / "benchmarks" / name / "sample"
    (data,) = sample.glob("questions.*")
    qids = [record["qid"] for record in json.loads((sample / "predictions.json").read_bytes())][:3]
    path = predictions(tmp_path, {qids[0]: "B", qids[1]: "like a comet", qids[2]: "like a rose"})
    with ModelServer(lambda asked: say("Z" if "rose" in asked.prompt else "B")) as server:
        options = {"judge_model": "m", "judge_base_url": server.url, "ids": tuple(qids)}
        first, second = (run(path, data, name, **options) for _ in range(2))
        assert asked_about(server) == ["like a comet", "like a rose"]
    rules = [(s.careful.rule, s.careful.answer) for s in first.samples]
    assert rules == [("bare_letter", "B"), ("judge", "B"), ("judge", None)]
    assert [(s.official, s.careful) for s in second.samples] == [(s.official, s.careful) for s in first.samples]
    assert (second.provenance.judge.calls, second.provenance.judge.cached) == (0, 2)
