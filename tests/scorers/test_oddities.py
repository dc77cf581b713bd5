"""In every scorer, what a failing server left is unscored in the careful reading; what was cut off is flagged."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import grader
from grader.benchmark import Columns
from grader.decisions.gate import decide_all
from grader.decisions.thresholds import parse_fail_under
from grader.errors import GradeError, InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.predictions.outcomes import BrokenRow, Oddities
from grader.reports.material import RunFiles
from grader.results import Outcome, Report
from grader.scorers import declarations
from grader.scorers.oddities import family_of, with_families
from grader.scorers.pairing import Side
from grader.scorers.registry import scorer_of
from grader.task import Task
from tests.made_runs import BENCHMARKS, choice
from tests.own import TEXTS, own
from tests.reports.shown import on_terminal
from tests.tables import each

DATA = {"vstar": "questions.jsonl", "mmbench": "questions.tsv", "mr-ben": "data", "humaneval-v": "tasks.jsonl"}
RATE_LIMIT = "Error code: 429 - {'error': {'message': 'Rate limit reached for model', 'code': 'rate_limit_exceeded'}}"


def _run(folder: Path, benchmark: str, change: dict[int, dict[str, Any]], **options: Any) -> Report:
    """Grade a bundled sample with some of its records changed."""
    shutil.copytree(BENCHMARKS / benchmark / "sample", folder / "sample")
    path = folder / "sample" / "predictions.json"
    # MMBench's official scorer would ask the judge about a failure as well, and no reply to that was recorded.
    replies = path.with_name("judge_replies.json" if benchmark == "mr-ben" else "none")
    given = Options(
        benchmark=benchmark,
        data=path.with_name(DATA[benchmark]),
        judge_replies=replies if replies.exists() else None,
        **options,
    )
    records = json.loads(path.read_text(encoding="utf-8"))
    for at, fields in change.items():
        records[at] |= fields
    path.write_text(json.dumps(records), encoding="utf-8")
    return grade(path, given, Silent()).report


@pytest.mark.parametrize("benchmark", ["vstar", "mmbench", "mr-ben"])
def test_a_failing_servers_text_is_unscored_in_careful_and_stays_what_it_was_in_official(
    tmp_path: Path, benchmark: str
) -> None:
    report = _run(tmp_path, benchmark, {0: {"predictions": [RATE_LIMIT]}})
    (sample,) = [s for s in report.samples if s.careful.rule == "server_failure"]
    assert sample.careful.outcome is Outcome.UNSCORED
    assert sample.careful.detail.startswith("the model's server failed: Error code: 429")
    assert sample.official.outcome is not Outcome.UNSCORED
    assert (report.unscored_by_reading.official, report.unscored_by_reading.careful) == (0, 1)
    headline = report.metrics[0].name
    careful = report.metric(headline, "careful")
    low, high = careful.bounds  # type: ignore[misc]
    assert low <= careful.number <= high
    assert low < high
    note = '1 prediction is not an answer but the error text of a failing server, such as "Error code: 429'
    assert any(note in n.text for n in report.notes)


def test_an_empty_prediction_with_an_error_beside_it_is_a_failure_and_one_without_is_none(tmp_path: Path) -> None:
    change = {0: {"predictions": [""], "error": "Request timed out."}, 1: {"predictions": [""]}}
    report = _run(tmp_path, "vstar", change)
    first, second = report.samples[:2]
    assert (first.careful.outcome, second.careful.outcome) == (Outcome.UNSCORED, Outcome.NO_ANSWER)
    assert first.careful.detail == "the model's server failed: Request timed out."


def test_a_question_with_a_lost_pass_is_in_the_bounds_alone(tmp_path: Path) -> None:
    """Whether its other pass is right or wrong: to count only the wrong ones would make the accuracy too low."""
    data = tmp_path / "q.tsv"
    rows = [(1, "red\tblue", "A"), (1000001, "blue\tred", "B"), (2, "cat\tdog", "A"), (1000002, "dog\tcat", "B")]
    rows += [(3, "one\ttwo", "A"), (1000003, "two\tone", "B")]
    lines = [f"{index}\tWhich?\t{options}\t{answer}" for index, options, answer in rows]
    data.write_text("\n".join(["index\tquestion\tA\tB\tanswer", *lines]), encoding="utf-8")
    texts = {"1": "A", "1000001": RATE_LIMIT, "2": "B", "1000002": RATE_LIMIT, "3": "A", "1000003": "B"}
    path = tmp_path / "p.json"
    path.write_text(json.dumps([{"qid": q, "predictions": [t]} for q, t in texts.items()]), encoding="utf-8")
    report = grade(path, Options(benchmark="mmbench", data=data), Silent()).report
    found = report.metric("circular_accuracy", "careful")
    assert (found.n, found.dropped) == (1, 2)
    assert found.bounds == pytest.approx((100 / 3, 200 / 3))
    # The only complete question is right; the value cannot be above what is possible.
    assert found.value == pytest.approx(200 / 3)
    assert "2 of 3 items left out: too few scored samples" in on_terminal(report, width=120)


def test_answers_that_were_cut_off_are_flagged_and_counted(tmp_path: Path) -> None:
    change = {
        0: {"finish_reasons": ["length"]},
        1: {"predictions": ["<think>The shirt is"]},
        2: {"predictions": ["<think>The shirt is red.</think> B"], "finish_reason": "stop"},
    }
    before, report = (_run(tmp_path / name, "vstar", changed) for name, changed in (("as it is", {}), ("cut", change)))
    assert [sample.flags for sample in report.samples[:2]] == [["truncated"], ["truncated"]]
    assert [sample.flags for sample in report.samples[2:]] == [sample.flags for sample in before.samples[2:]]
    number = sum(sample.flags == ["truncated"] for sample in report.samples)
    assert any(note.text.startswith(f"{number} answers were cut off before the end") for note in report.notes)


@pytest.mark.parametrize("benchmark", ["vstar", "mr-ben"])
def test_predictions_without_text_are_counted_in_a_note(tmp_path: Path, benchmark: str) -> None:
    """Not those that a failing server left: they have a note of their own."""
    failed = {"predictions": [""], "error": RATE_LIMIT}
    report = _run(tmp_path, benchmark, {0: {"predictions": [""]}, 1: {"predictions": [" \n"]}, 2: failed})
    assert [note.text.partition(":")[0] for note in report.notes if "without any text" in note.text] == [
        "2 predictions without any text"
    ]


def task(**row: object) -> Task:
    return Task(id="q", row=row)


@each(("qid", "family"), [("q1", "q1"), ("q1-2", "q1"), ("q12-3", "q12"), ("other", "")])
def test_a_task_of_humaneval_v_belongs_to_the_family_in_its_id(qid: str, family: str) -> None:
    assert family_of(task(qid=qid), declarations.load("humaneval-v").columns) == family


DECLARATION = (
    'id = "mine"\nname = "Mine"\nscoring = "multiple_choice"\ndefault_split = "s"\ndefault_protocol = "p"\n'
    'splits.s.data = "q.jsonl"\nprotocols.p.reader = "vlmevalkit-2026-06"\n'
    '[columns]\nid = "index"\nquestion = "question"\nanswer = "answer"\n'
)


def declared(folder: Path, cluster: str) -> Path:
    (folder / "benchmark.toml").write_text(DECLARATION + cluster, encoding="utf-8")
    return folder


@pytest.mark.parametrize("cluster", ['cluster_pattern = "(q)"', 'cluster = "index"\ncluster_pattern = "q["',
                                     'cluster = "index"\ncluster_pattern = "q"'])  # fmt: skip
def test_a_pattern_that_names_no_family_is_refused(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(InputError, match="cluster_pattern"):
        declarations.load(str(declared(tmp_path, cluster)))


def test_samples_of_a_run_have_their_family_and_intervals_are_wider(tmp_path: Path) -> None:
    """Thirty questions, three variants each, right or wrong together."""
    rows = [
        {"index": f"{n}-{v}", "question": "Which?", "A": "red", "B": "blue", "answer": "A", "puzzle": f"p{n}"}
        for n in range(10)
        for v in range(3)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = [{"qid": r["index"], "predictions": ["A" if int(str(r["puzzle"])[1:]) % 2 else "B"]} for r in rows]
    (tmp_path / "p.json").write_text(json.dumps(said), encoding="utf-8")
    widths = []
    for cluster in ("", 'cluster = "puzzle"'):
        made = grade(tmp_path / "p.json", Options(benchmark=str(declared(tmp_path, cluster))), Silent()).report
        metric = made.metric("accuracy", "careful")
        widths.append(metric.ci95[1] - metric.ci95[0])
        family = msgspec.UNSET if not cluster else "p0"
        assert made.samples[0].family == family
    assert widths[1] > 1.5 * widths[0]


def test_a_comparison_counts_a_family_once() -> None:
    columns = Columns(id="id", cluster="puzzle")
    before, after = choice([False] * 18), choice([True] * 18)
    tasks = {sample.qid: task(puzzle=int(sample.qid[1:]) % 6) for sample in after.samples}
    related = [
        msgspec.structs.replace(run, samples=with_families(run.samples, tasks, columns)) for run in (before, after)
    ]
    scorer = scorer_of(after)
    apart = scorer.compare(Side(before, "careful"), Side(after, "careful"), "accuracy").difference
    together = scorer.compare(*(Side(run, "careful") for run in related), "accuracy").difference
    assert apart.p_value == pytest.approx(2 * 0.5**18)
    assert together.p_value == pytest.approx(2 * 0.5**6)
    assert (together.value, together.n) == (100, 18)


def broken_rows(folder: Path, odd: dict[str, Any], rows: int = 40) -> Report:
    """Grade a table whose third row is odd; every reply is A, which is the answer of all rows."""
    usual = {"question": "Which?", "A": "red", "B": "blue", "C": "green", "answer": "A"}
    table = [{"index": str(number), **usual} for number in range(rows)]
    table[2] |= odd
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    (folder / "p.json").write_text(
        json.dumps([{"qid": qid, "predictions": ["A"]} for qid in {row["index"]: None for row in table}])
    )
    return grader.grade(folder / "p.json", benchmark="mmstar", data=folder / "q.jsonl", missing="wrong")


@pytest.mark.parametrize(
    ("odd", "official", "reason"),
    [
        ({"answer": "D"}, "wrong", "the answer 'D' is not one of its options A, B, C"),
        ({"answer": "red"}, "wrong", "the answer 'red' is not one of its options A, B, C; write its letter: A"),
        ({"B": "red"}, "correct", "the options A and B have the same text, and one of them is the answer"),
        ({"answer": None}, "wrong", "it has no answer"),
        ({"A": None, "B": None, "C": None}, "wrong", "no options"),
    ],
)
def test_a_broken_row_stops_only_itself(tmp_path: Path, odd: dict[str, Any], official: str, reason: str) -> None:
    report = broken_rows(tmp_path, odd)
    (row,) = [sample for sample in report.samples if sample.qid == "2"]
    assert (row.official.outcome, row.careful.outcome, row.careful.rule) == (official, "not_judged", "broken_row")
    assert all(sample.careful.outcome == "correct" for sample in report.samples if sample is not row)
    (note,) = [note.text for note in report.notes if "broken" in note.text]
    assert note.startswith(f'1 row of the data is broken: "2" ({reason}). The careful reading leaves')


def test_broken_rows_of_one_reason_are_named_together() -> None:
    rows = (("1", "x"), ("2", "y"), ("3", "x"))
    broken = {qid: BrokenRow(reason=reason, has_gold=True) for qid, reason in rows}
    (note, *_) = Oddities(broken=broken).notes()
    assert note.startswith('3 rows of the data are broken: "1", "3" (x), "2" (y). ')


def test_a_broken_row_is_in_no_careful_metric_and_keeps_no_gate_undecided(tmp_path: Path) -> None:
    report = broken_rows(tmp_path, {"answer": "D"})
    official, careful = report.metric("accuracy", "official"), report.metric("accuracy", "careful")
    assert official is not None
    assert careful is not None
    assert (official.n, round(official.value or 0, 1), careful.n, careful.value) == (40, 97.5, 39, 100)
    assert report.unscored == 0
    assert "agree on all 39 samples that both judge." in on_terminal(report)
    (gate,) = decide_all(report, thresholds=[parse_fail_under("accuracy=99")])
    assert gate.state == "met"


def test_of_two_rows_with_one_id_neither_is_judged(tmp_path: Path) -> None:
    report = broken_rows(tmp_path, {"index": "1"})
    found = {sample.qid: (sample.official.outcome, sample.careful.outcome) for sample in report.samples}
    assert found.pop("1") == ("wrong", "not_judged")
    assert set(found.values()) == {("correct", "correct")}


def test_more_than_five_percent_of_broken_rows_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(GradeError, match=r"q\.jsonl:3: 2: the answer 'D' is not one of its options"):
        broken_rows(tmp_path, {"answer": "D"}, rows=19)


def test_a_gold_option_that_pandas_lost_is_restored(tmp_path: Path) -> None:
    """A letter without a text lost it if a later letter has one, or if nearly all rows have one."""
    for odd in ({"A": None}, {"answer": "C", "C": None}):
        report = broken_rows(tmp_path, odd)
        assert not report.unscored
        assert "The gold option of 1 row has no text in the data (2): pandas reads" in report.notes[0].text


NUMBERS = TEXTS.replace('"text"', '"number"')
LETTERS = """
scoring = "multiple_choice"
letters = "AB"
columns = { id = "id", question = "question", answer = "answer", options = "options" }
protocols.p.reader = "simple-evals"
"""


def graded(folder: Path, declared: str, records: list[dict[str, object]], **row: object) -> Report:
    own(folder, declared, [{"id": n, "question": f"Which is it, {n}?", **row} for n in range(len(records))], {})
    (folder / "p.jsonl").write_text("".join(json.dumps({"doc_id": n} | r) + "\n" for n, r in enumerate(records)))
    return grader.grade(folder / "p.jsonl", benchmark=folder)


def test_careful_reads_the_whole_reply_of_a_log_and_official_what_its_filter_made(tmp_path: Path) -> None:
    reply = "3 + 4 is 7 and 7 - 1 is 6.\n\nThe answer is 6."
    logged = [{"resps": [[reply]], "filtered_resps": [made], "filter": "strict"} for made in ("6", "[invalid]")]
    report = graded(tmp_path, NUMBERS, logged, answer="6")
    outcomes = [(s.official.outcome, s.careful.outcome) for s in report.samples]
    assert outcomes == [(Outcome.CORRECT, Outcome.CORRECT), (Outcome.WRONG, Outcome.CORRECT)]
    assert [s.official.detail for s in report.samples] == [
        f'The log\'s filter made "{made}" of the reply.' for made in ("6", "[invalid]")
    ]
    shown = RunFiles(report=report, predictions=tmp_path / "p.jsonl").replies()
    assert [shown[s.qid][0][slice(*s.careful.span)] for s in report.samples] == ["6", "6"]


def test_all_outputs_of_a_log_are_graded_where_its_filter_keeps_one(tmp_path: Path) -> None:
    logged = [{"resps": [["6", "5", "6"]], "filtered_resps": ["6"], "filter": "take_first"} for _ in range(2)]
    report = graded(tmp_path, NUMBERS, logged, answer="6")
    assert [(s.qid, s.sample, s.careful.outcome.value) for s in report.samples] == [
        (qid, number, outcome) for qid in "01" for number, outcome in enumerate(("correct", "wrong", "correct"))
    ]


def test_a_task_that_is_missing_in_a_log_of_two_filters_is_wrong_in_the_group_of_each(tmp_path: Path) -> None:
    rows = [{"id": number, "question": f"Which is it, {number}?", "answer": "6"} for number in range(3)]
    path = own(tmp_path, NUMBERS, rows, {})
    made = {"strict": ["6", "6"], "flexible": ["6", "5"]}
    logged = [
        {"doc_id": number, "resps": [["The answer is 6."]], "filtered_resps": [text], "filter": name}
        for name, texts in made.items()
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in logged))
    report = grader.grade(path, benchmark=tmp_path, missing="wrong")
    accuracies = {m.group: (m.value, m.n) for m in report.metrics if (m.name, m.reading) == ("accuracy", "official")}
    assert accuracies == {
        None: (50, 3), "filter=strict": (pytest.approx(200 / 3), 3), "filter=flexible": (pytest.approx(100 / 3), 3),
    }  # fmt: skip
    with pytest.raises(GradeError, match="pass@2 needs at least 2 samples of every task, and one has only 1"):
        grader.grade(path, benchmark=tmp_path, missing="wrong", k=2)


def test_an_option_in_a_sentence_that_the_log_says_was_cut_off_is_no_answer(tmp_path: Path) -> None:
    texts = ("Let me think. Option B says", "ANSWER: B", "I compared them. It is B.")
    logged = [{"resps": [[text]], "filter": "none", "finish_reason": "length"} for text in texts]
    report = graded(tmp_path, LETTERS, logged, answer="B", options=["red", "blue"])
    assert [s.careful.outcome.value for s in report.samples] == ["no_answer", "correct", "correct"]
    assert report.samples[0].careful.rule_name == "cut_off"
    assert all(s.flags == ["truncated"] for s in report.samples)
