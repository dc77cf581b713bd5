"""The scorer `answer`: official rules, careful reading, and the metrics of yes or no and of several samples."""

import csv
import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import grader
from grader.decisions.gate import decide_all
from grader.decisions.thresholds import parse_fail_under
from grader.errors import GradeError
from grader.results import Report
from grader.scorers.answer.careful import is_accepted, read_answer
from grader.scorers.answer.declaration import AnswerKind
from grader.scorers.answer.expressions import Comparer
from grader.scorers.answer.official import RULES
from grader.scorers.answer.scorer import Answer
from tests.conftest import ROOT
from tests.own import HEAD, TEXTS, own
from tests.tables import each

needs_math = pytest.mark.skipif(find_spec("math_verify") is None, reason="the extra `math` is not installed")

EXPECTED = {
    "gsm8k": (["7", "3", "1200"], ["7", "60", "1200"], 200 / 3, 100),
    "pope": (["yes", "yes", "yes", "no"], ["yes", "no", None, "yes"], 25, 75),
}


def graded(name: str, folder: Path, records: list[dict[str, object]] | None = None, **given: object) -> Report:
    sample = ROOT / "benchmarks" / name / "sample"
    path = folder / "answers.json"
    if records is None:
        shutil.copy(sample / "predictions.json", path)
    else:
        path.write_text(json.dumps(records))
    (data,) = sample.glob("questions.*")
    return grader.grade(path, benchmark=name, data=data, **given)


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    """One for all tests: its process needs seconds to start."""
    with Comparer() as made:
        yield made


def accepted(text: str, golds: list[str], kind: AnswerKind, comparer: Comparer) -> bool | None:
    said = read_answer(text, "How many pens are there?", kind)
    return None if said.answer is None else is_accepted(said, golds, kind, comparer)


@pytest.mark.parametrize("name", EXPECTED)
def test_both_readings_of_a_sample(name: str, tmp_path: Path) -> None:
    report = graded(name, tmp_path)
    official, careful, value, careful_value = EXPECTED[name]
    assert [s.official.answer for s in report.samples] == official
    assert [s.careful.answer for s in report.samples] == careful
    metrics = {(m.name, m.reading): m.value for m in report.metrics if m.group is None}
    assert (metrics["accuracy", "official"], metrics["accuracy", "careful"]) == pytest.approx((value, careful_value))


def test_the_answer_on_a_line_of_its_own_has_no_blank_before_it() -> None:
    assert read_answer("26 eggs are left.\nA: 26", "How many are left?", "number").answer == "26"


def test_yes_or_no_has_precision_recall_and_f1_by_group(tmp_path: Path) -> None:
    report = graded("pope", tmp_path)
    found = {(m.name, m.group): m.value for m in report.metrics if m.reading == "official"}
    assert found["precision", None] == pytest.approx(100 / 3)
    assert found["recall", None] == 50
    assert found["f1", None] == 40
    assert found["yes_ratio", None] == 75
    assert found["f1", "category=popular"] == pytest.approx(200 / 3)


FAILED = ["Error code: 429 - rate limit"]


def test_yes_or_no_has_bounds_if_answers_are_unscored_and_they_leave_a_gate_undecided(tmp_path: Path) -> None:
    """The gold answers are yes, no, no, yes. Each of the two scored answers is wrong."""
    texts = {"0": FAILED, "1": FAILED, "2": ["yes"], "3": ["no"]}
    report = graded("pope", tmp_path, [{"qid": q, "predictions": p} for q, p in texts.items()])
    found = {m.name: (m.value, m.bounds) for m in report.metrics if m.reading == "careful" and m.group is None}
    assert found["precision"] == (0, (0, 50))
    assert found["recall"] == (0, (0, 50))
    assert found["f1"] == (0, (0, 50))
    assert found["yes_ratio"] == (50, (25, 75))
    (gate,) = decide_all(report, thresholds=[parse_fail_under("f1=50")])
    assert gate.state == "blocked"


def test_several_samples_have_their_mean_and_that_of_the_majority(tmp_path: Path) -> None:
    texts = {"0": ["#### 7", "#### 8", "#### 7"], "1": ["#### 1", "#### 1", "#### 60"], "2": ["#### 1,200"] * 3}
    report = graded("gsm8k", tmp_path, [{"qid": q, "predictions": p} for q, p in texts.items()], protocol="gsm8k")
    found = {m.name: m.value for m in report.metrics if m.reading == "official"}
    assert found["accuracy"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 1) / 3)
    assert found["maj@3"] == pytest.approx(200 / 3)
    fewer = texts | {"1": ["#### 1"]}
    report = graded("gsm8k", tmp_path, [{"qid": q, "predictions": p} for q, p in fewer.items()], protocol="gsm8k")
    (majority,) = [m for m in report.metrics if (m.name, m.reading) == ("maj@3", "official")]
    assert (majority.value, majority.n) == (100, 2), "question 1 has one sample, which is no majority of three"
    for text in ("maj@3=50", "pass@3=50"):
        (gate,) = decide_all(report, thresholds=[parse_fail_under(text)], reading="official")
        assert gate.reason.endswith("n 2); 1 of 3 tasks have too few samples for it")


@each(
    ("texts", "bounds"),
    [
        (["#### 7", "#### 7", "lost"], None),
        (["#### 8", "#### 8", "lost"], None),
        (["#### 7", "#### 8", "lost"], (0, 100)),
        (["#### 7", "lost", "lost"], (0, 100)),
        (["#### 8", "lost", "lost"], (0, 100)),
        (["#### 7", "", "lost"], (0, 100)),
        (["", "", "lost"], (0, 100)),
    ],
)
def test_lost_votes_leave_open_which_answer_has_the_majority(
    texts: list[str], bounds: tuple[float, float] | None, tmp_path: Path
) -> None:
    replies = ["Failed to obtain answer via API." if text == "lost" else text for text in texts]
    report = graded("gsm8k", tmp_path, [{"qid": "0", "predictions": replies}], protocol="gsm8k", missing="skip")
    (majority,) = [m for m in report.metrics if (m.name, m.reading) == ("maj@3", "careful")]
    assert (majority.bounds or None) == bounds
    (gate,) = decide_all(report, thresholds=[parse_fail_under("maj@3=50")])
    assert (gate.state == "blocked") is (bounds is not None)


@each(
    ("rule", "text", "gold", "right"),
    [
        ("relaxed", "10.5", "10", True),
        ("relaxed", "10.6", "10", False),
        ("relaxed", " 9.5 ", "10", True),
        ("relaxed-2024", "9.5", "10", False),
        ("relaxed", "12%", "0.12", True),
        ("relaxed", "0.0", "0", False),
        ("relaxed", "Yes ", "yes", True),
        ("relaxed", "2016", "[2014, 2016]", True),
        ("relaxed", "Niger", "[Gambia, Niger]", False),
        ("relaxed", "1,000", "1000", False),
        ("mathvista", "7.9", "7", True),
        ("mathvista", "1.25", "1.2", True),
        ("mathvista", "1.5", "1.50", False),
        ("mathvista", "1e400", "7", False),
        ("mathvista", "7 cm", "7", False),
        ("mathvista", "[1, 2]", "[1, 2]", True),
        ("mathvista", "[1,2]", "[1, 2]", False),
    ],
)
def test_an_official_rule_compares_as_its_source(rule: str, text: str, gold: str, right: bool) -> None:
    """Outputs of the sources' own functions, recorded."""
    assert RULES[rule].same(RULES[rule].read(text), gold) == right


@each(
    ("text", "gold", "right"),
    [
        (r"so $\\boxed{\\frac{3}{4}}$", "0.75", True),
        ("12 + 60 = 72", "72", True),
        ("It costs $1,200.00", "1200", True),
        ("The answer is 72 km.", "72", True),
        ("There are 3 boxes and 72 pens.", "72", True),
        ("Of 90 pens, 18 are sold, so 72 pens are left in 3 boxes.", "72", True),
        ("The answer is 72.\n\nQuestion: What is 1 + 1?\nAnswer: 2", "72", True),
        ("72 (60 red and 12 blue)", "72", True),
        ("72, because there are 60 and 12.", "72", True),
        ("There are 60 pens here and 12 there, for a total of 72.", "72", True),
        ("Next to the 60 red pens are 12 more, which is 72.", "72", True),
        ("There are 72 pens, not 60.", "72", True),
        ("Of 90 pens, 18 are sold.\n\n72.00 (72)", "72", True),
        ("Drei", "3", True),
        ("Trois personnes.", "3", True),
        ("There are 72 pens, compared with 5,300, and more next year.", "72", True),
        (
            "There are 12 pens in the first of the boxes. For the other, we have to open it, and then we know that",
            "12",
            None,
        ),
        ("<think>72", "72", None),
        ("", "72", None),
    ],
)
def test_a_number_is_read_with_care(text: str, gold: str, right: bool | None, comparer: Comparer) -> None:
    assert accepted(text.replace("\\\\", "\\"), [gold], "number", comparer) == right


@each(
    ("text", "wanted"),
    [
        ("A dog is in the image.\n\nThe answer is no.", "no"),
        ("Is it a fox?\n**Yes.**", "yes"),
        ("The dog is brown.", "yes"),
        ("I do not believe there is a dog.", "no"),
        ("Most likely no.", "no"),
        ("[Yes]", "yes"),
        ('{"answer": false}', "no"),
        ("It is large.", None),
        ("There may be a dog.", None),
        ("Yes, I can answer that: there is no dog.", None),
    ],
)
def test_yes_or_no_is_read_where_other_answers_are(text: str, wanted: str | None) -> None:
    assert read_answer(text, "Is there a dog in the image?", "yes_no").answer == wanted


@each("text", ["The man is sitting, not standing.", "The man sits. Not standing.", "He is anything but standing."])
def test_what_a_clause_denies_of_the_subject_before_it_is_a_no(text: str) -> None:
    assert read_answer(text, "Is the man standing?", "yes_no").answer == "no"


@each(
    "text",
    [
        *("assert f(17) == {1: 'a'}", "[ANSWER]\nassert f('x == y') == {1: 'a'}\n[/ANSWER]", "f(17) == {1: 'a'}"),
        *("{1: 'a'}.", "The answer is `{1: 'a'}`.", "```python\nassert f(17) == {1: 'a'}\n```"),
    ],
)
def test_a_literal_is_read_behind_an_assertion_and_before_a_full_stop(text: str, comparer: Comparer) -> None:
    assert accepted(text, ['{1: "a"}'], "literal", comparer)


@each(
    ("text", "gold", "right"),
    [
        ("The answer is Grey.", ["black", "gray"], True),
        (r"$\\boxed{\\text{Gray}}$".replace("\\\\", "\\"), ["gray"], True),
        ("The sign reads gray.", ["gray"], None),
        ("Gray\n\nLet me know if you need more.", ["gray"], True),
        ("Sure!\n\nGray\n\n**Explanation:** Ink is gray.", ["gray"], True),
        ("The colour is:\n\n**Gray**\n\nIt is no other.", ["gray"], True),
        ("**The Pens**\n\nThe pens are gray and many.", ["gray"], None),
        ("It is gray, which is a colour.", ["gray"], None),
        ("It is gray, blue.", ["gray"], None),
        ("There are 10:10.", ["10:10"], True),
        ("It is 2,500.", ["500"], False),
        ("The answer is Grey.", ["black"], False),
        ("-5 C", ["5 C"], False),
    ],
)
def test_a_text_is_equal_but_for_case_and_spelling(text: str, gold: list[str], right: bool, comparer: Comparer) -> None:
    assert accepted(text, gold, "text", comparer) == right


@pytest.mark.parametrize(
    ("text", "gold", "right"),
    [
        (r"So it is $\boxed{(x+1)^2}$.", "x^2+2x+1", True),
        (r"The answer is $2\sqrt{2}$.", r"\sqrt{8}", True),
        (r"\boxed{(1, 2)}", "(2, 1)", False),
        (r"\boxed{x-1}", "x1", False),
        ("$x - 1$", "x-1", True),
        (r"\boxed{3", "3", None),
        (r"\boxed{" + "\\frac{" * 3_000, "3", None),
    ],
)
@needs_math
def test_an_expression_is_equal_if_algebra_says_so(
    text: str, gold: str, right: bool | None, comparer: Comparer
) -> None:
    assert accepted(text, [gold], "expression", comparer) == right


@needs_math
def test_a_process_that_was_killed_while_it_waited_is_started_again() -> None:
    with Comparer() as comparer:
        assert comparer.are_equal("x+1", "1+x")
        assert comparer._process is not None
        comparer._process.kill()
        comparer._process.wait()
        assert comparer.are_equal("x+1", "1+x")


@needs_math
def test_expressions_are_graded_by_the_official_rule_and_carefully(tmp_path: Path) -> None:
    declared = (ROOT / "benchmarks" / "gsm8k" / "benchmark.toml").read_text()
    declared = declared.replace('kind = "number"', 'kind = "expression"').replace(
        'rule = "gsm8k"', 'rule = "hendrycks-math"'
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "benchmark.toml").write_text(declared)
    data = tmp_path / "q.jsonl"
    golds = [r"\frac{1}{2}", "x^2-1", r"\sqrt{2}"]
    rows = ({"index": i, "question": "What is it?", "answer": gold} for i, gold in enumerate(golds))
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replies = [r"\boxed{1/2}", r"\boxed{(x-1)(x+1)}", r"\boxed{9^{9^{9^{9^{9}}}}!}"]
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([{"qid": str(i), "predictions": [reply]} for i, reply in enumerate(replies)]))
    report = grader.grade(answers, benchmark=str(tmp_path / "own"), data=data, protocol="gsm8k")
    assert [s.official.outcome.value for s in report.samples] == ["correct", "wrong", "wrong"]
    assert [s.careful.outcome.value for s in report.samples] == ["correct", "correct", "no_answer"]
    assert "2 s" in report.samples[2].careful.detail


@each(
    ("answer", "gold", "same"),
    [
        (r"\tfrac12", r"\frac{1}{2}", True), ("0.5", r"\frac{1}{2}", True), ("3/4", r"\frac34", True),
        ("x=5", "5", True), ("xyz=5", "5", False), (r"\sqrt3", r"\sqrt{3}", True), (".5", "0.5", True),
        (r"90^\circ", "90", True), (r"5\text{ cm}", "5", True), (r"50\%", "50", True), ("1,000", "1000", False),
        (r"\left( 1,2 \right)", "(1,2)", True), (r"\frac", r"\frac", True),
    ],
)  # fmt: skip
def test_math_s_official_rule_compares_rewritten_texts(answer: str, gold: str, same: bool) -> None:
    assert RULES["hendrycks-math"].same(answer, gold) == same


def of_table(folder: Path, declared: str, rows: list[dict[str, object]], replies: dict[str, list[str]]) -> Report:
    """Grade replies on a private benchmark of this scorer; columns that every declaration has need not be given."""
    columns = 'scoring = "answer"\ncolumns.id = "id"\ncolumns.question = "question"\ncolumns.answer = "answer"\n'
    path = own(folder, columns + declared, [], replies, HEAD.replace("rows.jsonl", "q.tsv"))
    with (folder / "q.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return grader.grade(path, benchmark=folder)


BY_ROW = """
kind = "text"
kinds = { integer = "number" }
columns.kind = "answer_type"
columns.options = "choices"
columns.letter = "answer_option"
protocols.p = { rule = "mmmu", reader = "mmmu" }
"""
ROWS_BY_KIND: list[dict[str, object]] = [
    {"id": "n", "question": "How many?", "answer": "3", "answer_type": "integer", "choices": "", "answer_option": ""},
    {"id": "t", "question": "What is it?", "answer": "['gray', 'silver']", "answer_type": "text", "choices": "[]",
     "answer_option": ""},
    {"id": "f", "question": "How far?", "answer": "['8.4', '8.40 m']", "answer_type": "", "choices": "[]",
     "answer_option": ""},
    {"id": "c", "question": "Which?", "answer": "red", "answer_type": "text", "choices": "['blue', 'red']",
     "answer_option": "B"},
]  # fmt: skip


def test_a_rule_that_reads_options_grades_a_row_whose_answer_is_none_of_them(tmp_path: Path) -> None:
    declared = 'kind = "text"\ncolumns.options = "choices"\nprotocols.p.rule = "math-vision"\n'
    rows: list[dict[str, object]] = [
        {"id": f"{at}", "question": "?", "answer": "A" if at else "Z", "choices": "['1', '2', '3', '4']"}
        for at in range(21)
    ]
    made = of_table(tmp_path, declared, rows, {f"{at}": ["\\boxed{A}"] for at in range(21)})
    outcomes = [(one.official.outcome.value, one.careful.outcome.value) for one in made.samples]
    assert outcomes == [("wrong", "not_judged"), *[("correct", "correct")] * 20]


def test_every_row_has_its_own_kind_of_answer_and_rows_with_options_are_multiple_choice(tmp_path: Path) -> None:
    replies = {
        "n": ["There are 3."],
        "t": ["It is grey."],
        "f": ["The distance is therefore 8.4"],
        "c": ["It says 'red', so (B)."],
    }
    report = of_table(tmp_path, BY_ROW, ROWS_BY_KIND, replies)
    assert [s.careful.answer for s in report.samples] == ["3", "It is grey", "8.4", "B"]
    assert [s.careful.outcome.value for s in report.samples] == ["correct"] * 4
    assert [s.official.outcome.value for s in report.samples] == ["correct", "wrong", "correct", "correct"]
    assert [s.official.rule for s in report.samples] == ["mmmu", "mmmu", "mmmu", "parenthesised"]


def test_a_text_that_says_that_it_has_no_answer_is_none(tmp_path: Path) -> None:
    rows = [row for row in ROWS_BY_KIND if row["id"] == "t"]
    for reply, outcome in (("I don't know.", "no_answer"), ("I can't read it.", "no_answer"), ("A cat.", "wrong")):
        assert of_table(tmp_path, BY_ROW, rows, {"t": [reply]}).samples[0].careful.outcome.value == outcome


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_type": "colour"}, 'q.tsv:2: n: the kind "colour" in column answer_type is not one of number, exp'),
        (
            {"choices": "['a', 'b']"},
            'q.tsv:2: n: the answer "3" in column answer is neither one of A, B nor an option\'s text',
        ),
        ({"answer": ""}, "q.tsv:2: n: no answer in column answer"),
        ({"id": ""}, "q.tsv:2: no id in column id"),
    ],
)
def test_a_bad_row_is_one_clear_error(change: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(GradeError) as caught:
        of_table(tmp_path, BY_ROW, [ROWS_BY_KIND[0] | change, *ROWS_BY_KIND[1:]], {"n": ["3"]})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('rule = "mine"', "benchmark.toml: protocols.p: rule = 'mine' is unknown; the rules are gsm8k, "),
        (
            'rule = "exact"\nprotocols.p.reader = "mine"',
            "benchmark.toml: protocols.p: reader 'mine' is unknown; known: ",
        ),
        ('rule = "exact"', "benchmark.toml: protocols.p: add a `reader` for rows with options"),
    ],
)
def test_a_bad_declaration_is_one_clear_error(declared: str, message: str, tmp_path: Path) -> None:
    declaration = 'kind = "text"\ncolumns.options = "choices"\nprotocols.p.' + declared + "\n"
    with pytest.raises(GradeError) as caught:
        of_table(tmp_path, declaration, ROWS_BY_KIND, {"n": ["3"]})
    assert message in str(caught.value)


def test_questions_that_belong_together_count_only_together(tmp_path: Path) -> None:
    declared = """
kind = "yes_no"
together.figure = { columns = ["set"], id_pattern = "([^_]*)_" }
together.question_pair.id_pattern = "[^_]*_([^_]*)"
protocols.p.rule = "vlmevalkit-yes-no"
"""
    rows: list[dict[str, object]] = [
        {"id": f"{figure}_{question}", "set": "x", "question": "Is it?", "answer": ("No", "Yes")[question]}
        for figure in (0, 1, 2)
        for question in (0, 1)
    ]
    replies = {str(row["id"]): [str(row["answer"])] * 2 for row in rows}
    replies["2_1"] = ["Yes", "No"]
    report = of_table(tmp_path, declared, rows, replies)
    found = {m.name: (m.value, m.n) for m in report.metrics if m.reading == "careful"}
    assert found["figure_accuracy"] == (pytest.approx(100 * 5 / 6), 3)
    assert found["question_pair_accuracy"] == (pytest.approx(75), 2)
    assert found["accuracy"] == (pytest.approx(100 * 11 / 12), 6)


@each(
    ("reply", "gold", "right"),
    [
        ("The current is 8.4 A.", "8.4", True),
        ("So 1,200 is the final result", "1200", False),
        ("The sum is 1,200 units", "1200", True),
        ("It is a Red Fox, I think", "red fox", True),
        ("It rises. Final answer: 7\nor -2", "7", True),
        ("1.5.7", ".7", True),
        ("=", "3", False),
    ],
)
def test_an_open_question_of_mmmu_is_read_as_by_its_source(reply: str, gold: str, right: bool) -> None:
    """The outcomes are those of the source's parse_open_response and eval_open."""
    rule = RULES["mmmu"]
    assert rule.same(rule.read(reply), gold) is right


@each(
    ("reply", "right"),
    [
        ("The capital of France is Paris.", True),
        ("The capital of France is Lyon.", False),
        ("The capital of France is not Paris.", None),
        ("I think it is Paris.", True),
        ("It's Paris!", True),
        ("Paris. It lies on the Seine.", None),
        ("It is large. Paris has many parks.", None),
    ],
)
def test_a_sentence_that_only_adds_words_of_the_question_is_the_answer(
    reply: str, right: bool | None, comparer: Comparer
) -> None:
    question = "What is the capital of France?"
    said = read_answer(reply, question, "text")
    assert said.answer is not None
    assert is_accepted(said, ["Paris"], "text", comparer, question=question) is right


def test_every_official_rule_is_explained() -> None:
    assert set(RULES) - set(Answer.words.glossary) == set()


def test_gold_answers_may_be_true_and_false_and_an_object_is_refused(tmp_path: Path) -> None:
    def run(kind: str, answer: object) -> Report:
        rows = [{"id": "1", "question": "Is it?", "answer": answer}]
        path = own(tmp_path, TEXTS.replace('"text"', f'"{kind}"'), rows, {"1": ["Yes, it is."]})
        return grader.grade(path, benchmark=tmp_path)

    assert [run("yes_no", value).samples[0].careful.credit for value in (True, False)] == [1, 0]
    with pytest.raises(GradeError, match="answer in column answer is an object"):
        run("text", {"value": "Paris", "aliases": []})


@each("text", ["1e999", "2 * 10^{999}", "10^{999}", "0^5", "9" * 90 + "^{99}"])
def test_a_number_beyond_those_of_the_machine_is_no_error(text: str, comparer: Comparer) -> None:
    assert not accepted(text, ["3"], "number", comparer)


def test_a_row_with_several_categories_counts_once_in_each(tmp_path: Path) -> None:
    """As VLMEvalKit scores POPE: the overall metrics are those of the rows counted so."""
    rows = [("0", "Yes", "random", "yes"), ("1", "Yes", "popular,adversarial", "no"), ("2", "No", "popular", "no")]
    table = [{"index": qid, "question": "Is it?", "answer": gold, "category": labels} for qid, gold, labels, _ in rows]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    (tmp_path / "p.json").write_text(json.dumps([{"qid": qid, "predictions": [said]} for qid, _, _, said in rows]))
    report = grader.grade(tmp_path / "p.json", benchmark="pope", data=tmp_path / "q.jsonl")
    values = {(m.name, m.group): m.value for m in report.metrics if m.reading == "careful"}
    assert values["accuracy", None] == pytest.approx(50)  # 2 of 4
    assert values["accuracy", "category=popular"] == 50
    assert values["accuracy", "category=adversarial"] == 0
    assert values["recall", None] == pytest.approx(100 / 3)
    assert sum(filter(None, Answer().observations(report, "accuracy", "careful").values())) / 3 == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("['b', 'a']", "['b', 'a']", True),
        ("['b', 'a']", '["b", "a"]', True),
        ("['b', 'a']", "b", False),
        ("[]", "[]", True),
        ("{1: 2}", "{1:2}", True),
        ("{1: 2}", "{1: 3}", False),
        ("(1, 2)", "1", False),
        ("red", "\\boxed{{red}}", True),
    ],
)
def test_a_text_in_json_lines_is_one_answer_also_if_it_looks_like_a_list(
    gold: str, answer: str, right: bool, tmp_path: Path
) -> None:
    path = own(tmp_path, TEXTS, [{"id": 1, "question": "What is printed?", "answer": gold}], {"1": [answer]})
    (sample,) = grader.grade(path, benchmark=tmp_path).samples
    assert bool(sample.careful.credit) is right


@each(
    ("reply", "question", "wanted"),
    [
        ("There are 3 columns below 50. They are those of 2014, 2015 and 2016.", "How many columns are below 50?", "3"),
        (
            "The score is **1578**. It is Ann's.\n\nBea has 2968 points. She is not in the club.",
            "How high is it?",
            "1578",
        ),
        ("I cannot tell how far apart the 2 persons are.", "How far apart are the 2 persons?", None),
        ("9 dots ÷ 3 groups = 3 dots.", "9 dots are in 3 groups. How many are in each?", "3"),
        ("The answer is 1.\n\nTherefore, the median of them is 3.", "What is the median?", None),
        ("12 were sold.\nA: 42", "How many pens are left?", "42"),
        ("Red pens: 30\nBlue pens: 12\nTotal: 42", "How many pens are left?", "42"),
        ("I see 40 pens. Wait, there are two more, so 42 in total.", "How many pens are left?", "42"),
        ("40\n\nThat is wrong, there are 42.", "How many pens are left?", "42"),
        ("He was born in 1975.", "In which year was he born?", "1975"),
        ("It is 4 degrees below zero.", "How cold is it?", None),
    ],
)
def test_the_number_nearest_to_the_question_answers(reply: str, question: str, wanted: str | None) -> None:
    assert read_answer(reply, question, "number").answer == wanted


@each(
    ("reply", "gold", "question", "right"),
    [
        ("Here is the list:\n\n[1, 2, 3]", "[1,2,3]", "", True),
        ("The peak was between 2007 and 2008.", "[2007, 2008]", "Between which years was the peak?", True),
        ("It is 1, 2, 3 and 4.", "[1, 2, 3]", "Which are prime: 1, 2, 3 or 4?", False),
        ("It is blue and red.", "[red]", "Is it red, or blue and red?", False),
        ("It is blue , red.", "[red]", "Is it red, or blue and red?", False),
        ("Red and blue are missing.", "[]", "Which of red and blue are missing?", False),
        ("How to make $1K - $10K a month", "How to Make $1K - $10K a Month", "", True),
        ("N/A", "N/A", "", True),
    ],
)
def test_lists_money_and_not_applicable_are_texts_that_are_compared_whole(
    reply: str, gold: str, question: str, right: bool, comparer: Comparer
) -> None:
    read = read_answer(reply, question, "text")
    assert read.rule == "sentence" or right
    assert is_accepted(read, [gold], "text", comparer, question=question) is right


def test_a_row_without_an_answer_is_broken_whatever_the_reply_is(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": "Who is it?", "answer": "Ann"} for n in range(100)]
    rows[0]["answer"] = ""
    path = own(tmp_path, TEXTS, rows, {row["id"]: ["I think it is somebody with a red hat."] for row in rows})
    first = grader.grade(path, benchmark=str(tmp_path)).samples[0]
    assert first.careful.rule_name == "broken_row"


def test_the_result_counts_replies_that_no_rule_reads(tmp_path: Path) -> None:
    rows = [row for row in ROWS_BY_KIND if row["id"] == "n"]
    report = of_table(tmp_path, BY_ROW, rows, {"n": ["Nobody counted them.", "3"]})
    assert any(note.text.startswith("Not read by rule: 1 of 2 replies (50.0 %)") for note in report.notes)
