"""The report on a terminal."""

import msgspec

from grader.reports.document import Cell, Column, Table, cells
from grader.reports.formats.terminal import table_lines
from grader.reports.text import fold, truncate, wrap
from grader.results import Metric, Note, Reading, Report
from grader.scorers.choice.facts import ChoiceFacts
from tests.made_runs import figures, report, tasks
from tests.reports.made_reports import read, sample
from tests.reports.shown import on_terminal
from tests.tables import each


def test_a_submission_has_nothing_that_the_readings_could_agree_on() -> None:
    said = on_terminal(report([], split="test-en", notes=[Note("test-en has no public answers.")]))
    assert "agree" not in said
    assert "test-en has no public answers." in said


def test_the_readings_agree_on_no_sample_that_is_unscored_in_both() -> None:
    right, lost = read("correct"), read("unscored")
    said = on_terminal(report([sample("a", right, right), sample("b", lost, lost)]))
    assert "Official and careful agree on the only sample that both judge." in said


def test_one_pass_with_other_answers_is_no_plural() -> None:
    alike = [sample(f"q{n}", read("passed"), flags=["alike"]) for n in range(2)]
    for number, words in ((1, "1 of 1 passes answers otherwise"), (2, "2 of 2 passes answer otherwise")):
        assert words in on_terminal(report(alike[:number], scorer="execution"))


def test_of_many_differences_all_are_counted_by_their_kind() -> None:
    right, wrong = read("correct"), read("wrong")
    said = on_terminal(report([*(sample(f"a{n}", wrong, right) for n in range(12)), sample("b", right, wrong)]))
    assert "12 wrong to correct, 1 correct to wrong." in said.splitlines()
    assert "  ... 3 more; `-o FILE.json` has all." in said.splitlines()


def placed(outcome: str, answer: str, output: str, words: str, *, rule: str) -> Reading:
    at = output.index(words)
    return msgspec.structs.replace(read(outcome, answer, rule=rule), span=(at, at + len(words)))


def _grouped(*labels: str) -> Report:
    """Two metrics, overall and by these groups."""
    return report(
        [],
        metrics=[
            metric
            for group in (None, *labels)
            for name, value in (("pass@1", 40.0), ("parse_success_rate", 100.0))
            for metric in figures(name, value, 10, group)
        ],
    )


def test_only_the_whole_label_of_a_group_has_its_abbreviation() -> None:
    made = msgspec.structs.replace(_grouped("kind=b", "kind=a=b"), abbreviations={"b": "B"})
    names = [line.split("  ")[0] for line in on_terminal(made).splitlines() if line.startswith(("b", "a="))]
    assert names == ["b (B)", "a=b"]


def test_many_groups_are_only_shown_on_request() -> None:
    made = _grouped(*(f"task_type={number}" for number in range(9)))
    said = on_terminal(made)
    assert "9 groups (task_type): `-v` shows them here" in said
    assert said.count("40.0") == 2
    assert "pass@1 by task_type" not in said, "a heading with nothing under it"
    shown = on_terminal(made, verbose=True)
    assert shown.count("40.0") == 20
    assert "pass@1 by task_type" in shown


def test_a_narrow_terminal_breaks_a_name_between_its_words_and_no_value() -> None:
    label = "structuralized imagetext_understanding of documents"
    made = report([], metrics=[*figures("accuracy", 40.0, 10), *figures("accuracy", 30.0, 5, f"category={label}")])
    rows = on_terminal(made, width=72).splitlines()
    assert all(len(row) <= 72 for row in rows)
    start = next(at for at, row in enumerate(rows) if "30.0" in row)
    assert [row.strip().split("  ")[0] for row in rows[start : start + 2]] == [
        "structuralized imagetext_",
        "understanding of documents",
    ]
    narrow = on_terminal(made, width=50)
    assert all(len(row) <= 50 for row in narrow.splitlines() if "0.0" in row)
    assert narrow.count("30.0") == 2


def test_names_stay_whole_where_the_numbers_can_stand_below() -> None:
    """Somebody copies them: `lmms-eval-0.7.0` at the end of a line is not `lmms-`."""
    columns = [Column(name="group", kind="name"), *(Column(name="95 % interval") for _ in range(4))]
    rows = [[name, *["-79.4 to +30.9"] * 4] for name in ("category=direct_attributes", "options=2")]
    lines = table_lines(Table(title="", columns=columns, rows=list(map(cells, rows))), 80)
    starts = [line.split()[0] for line in lines if line.strip() and not line.startswith("─")]
    assert starts == ["group", "category=direct_attributes", "options=2"] * 2
    columns = [Column(name=name, kind="name") for name in ("splits", "protocols")]
    row = ["dev-en, test-en, dev-cn, test-cn", "lmms-eval-0.7.1, lmms-eval-0.7.0, vlmevalkit-2026-06"]
    lines = table_lines(Table(title="", columns=columns, rows=[cells(row)]), 50)[2:]
    assert {word.rstrip(",") for line in lines for word in line.split()} == set(", ".join(row).split(", "))


@each("width", range(40, 72))
def test_a_narrow_terminal_loses_no_character_of_long_names(width: int) -> None:
    columns = [Column(name=name, kind=kind) for name, kind in (("id", "word"), ("splits", "name"), ("rules", "name"))]
    row = ["humaneval-plus", "dev-en-v11, test-en-v11", "vlmevalkit-2026-06, vlmevalkit-2025-08"]
    lines = table_lines(Table(title="", columns=columns, rows=[cells(row)]), width)
    assert all(len(line) <= width for line in lines)
    assert sorted("".join(lines[2:]).replace(" ", "")) == sorted("".join(row).replace(" ", ""))


def test_a_metric_of_one_reading_has_a_dash_in_the_other_column_and_is_no_difference() -> None:
    only = [Metric(name="calls_right", reading="careful", value=87.5, ci95=(60.0, 100.0), n=8)]
    said = on_terminal(report([], metrics=[*figures("pass@1", 40.0, 8), *only]), colour=True)
    [row] = [line for line in said.splitlines() if "calls_right" in line]
    assert row.split() == ["calls_right", "–", "87.5", "60.0", "to", "100.0", "8"]


OUTPUT = "Based on it, it will cost about 5 million dollars, because a `roof` is new."
WRONG = placed("wrong", "B", OUTPUT, "B", rule="starts_with_letter")
RIGHT = placed("correct", "5", OUTPUT, "5 million", rule="declaration")
DIFFERENCE = report(
    [
        sample("q1", WRONG, RIGHT, facts=ChoiceFacts(gold="5,000,000")),
        sample("q2", read("no_answer"), read("wrong", "D"), facts=ChoiceFacts(gold="C")),
    ]
)
WHY = (
    "official `Based`: the text begins with the letter; careful `will cost about 5 million`: the text declares this to "
    "be its answer"
)


@each("width", [60, 80, 120])
def test_a_difference_has_the_gold_answer_and_the_words_that_decided_in_a_readable_width(width: int) -> None:
    said = on_terminal(DIFFERENCE, width=width, replies={"q1": [OUTPUT]})
    table = said[said.index("\nsample") :].partition("\n\n")[0].splitlines()[1:]
    assert all(len(line) <= width for line in table)
    is_below = width < 90
    assert table[0].split() == ["sample", "gold", "official", "careful", *([] if is_below else ["why"])]
    first, second = (at for at, line in enumerate(table) if line.startswith("q"))
    assert table[first][:41].split() == ["q1", "5,000,000", "wrong:", "B", "correct:", "5"]
    why = table[first + 1 : second] if is_below else [line[41:] for line in table[first:second]]
    assert " ".join(" ".join(why).split()) == WHY


def test_a_narrow_table_has_each_sentence_below_its_row_and_loses_none() -> None:
    columns = [Column(name="id", kind="name"), Column(name="why", kind="sentence")]
    rows = [cells(["a" * 20, "one two"]), cells(["b", ""]), cells(["c", "three four"])]
    assert table_lines(Table(title="", columns=columns, rows=rows), 30)[2:] == [
        "a" * 20, "    one two", "b", "c", "    three four",
    ]  # fmt: skip


def test_only_a_significant_value_is_bold() -> None:
    columns = [Column(name=name) for name in ("change", "other")]
    rows = [[Cell(text="1.0", tone="strong"), Cell(text="2.0")]]
    shown = "\n".join(table_lines(Table(title="", columns=columns, rows=rows), 60, colour=True)[2:])
    assert ("1.0" in shown.partition("\x1b[1m")[2].partition("\x1b[0m")[0], shown.count("\x1b[1m")) == (True, 1)


def test_prose_below_tables_is_wrapped_for_every_reader() -> None:
    note = "A note of many words that say what is to be known, and then some more. " * 3
    assert all(len(line) <= 100 for line in on_terminal(report([], notes=[Note(text=note)])).splitlines())


def test_a_text_is_cut_after_a_word_if_it_has_words() -> None:
    assert truncate("which the official extraction does not find", 36) == "which the official extraction does…"
    assert truncate("x" * 50, 10) == "x" * 9 + "…"
    assert truncate("a " + "x" * 50, 10) == "a xxxxxxx…"
    assert truncate("a b", 3) == "a b"


def test_prose_on_a_terminal_breaks_no_word_and_no_command() -> None:
    text = "  q1: the first call was not answered as it should be; run `grade show vstar q1` for more"
    assert wrap(text, 40).splitlines() == [
        "  q1: the first call was not answered as",
        "    it should be; run",
        "    `grade show vstar q1` for more",
    ]
    assert wrap(text, 120) == text
    assert wrap("a power of 80 % at a level of 5 % of all", 32).splitlines() == [
        "a power of 80 % at a level of",
        "  5 % of all",
    ]


def test_wide_characters_count_twice_where_prose_is_broken() -> None:
    assert wrap("正解は B です 正解は", 16).splitlines() == ["正解は B です", "  正解は"]
    assert fold("正解は B です 正解は", 20) == ["正解は B です 正解は"]


def test_a_curve_is_a_table_of_its_values_and_of_many_has_some() -> None:
    """What a page draws, a terminal has as numbers."""
    heading, _, official, careful = curve_lines(tasks([1, 0], samples=3))
    assert (heading.split(), careful.split()) == (
        ["reading", "pass@1", "pass@2", "pass@3"],
        ["careful", "16.7", "33.3", "50.0"],
    )
    assert official.split()[0] == "official"
    assert curve_lines(tasks([12], samples=12))[0].split() == [
        "reading",
        "pass@1",
        "pass@2",
        "pass@5",
        "pass@10",
        "pass@12",
    ]


def test_between_two_parts_is_one_empty_line() -> None:
    assert "\n\n\n" not in on_terminal(tasks([1, 0], samples=3), verbose=True)


def curve_lines(made: Report) -> list[str]:
    rows = on_terminal(made).splitlines()
    at = rows.index("pass@k against k")
    return rows[at + 1 : at + 5]
