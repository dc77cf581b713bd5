"""A comparison on a terminal: every figure, the items that moved, and nothing that could act."""

from __future__ import annotations

from grader.decisions.comparison import Compared, Comparison, Flip
from grader.decisions.paired import Difference, difference
from grader.reports.comparison.table import render

MOVED = difference([1.0] * 8 + [0.0] * 2, [1.0] * 6 + [0.0] * 4)


def comparison(**changes: object) -> Comparison:
    row = Compared(name="accuracy", reading="careful", group=None, before=80, after=60, difference=MOVED)
    flips = [Flip(item=f"q{n}", before=1, after=0, outcomes=(["correct"], ["wrong"])) for n in range(2)]
    made = {"benchmark": "vstar", "split": "test", "protocol": "p", "reading": "careful", "metrics": [row]}
    return Comparison(**{**made, "risen": [], "fallen": flips, "notes": ["A note."], **changes})


def test_it_shows_the_change_with_interval_and_test_then_the_items_then_the_notes() -> None:
    low, high = (f"{value:+.1f}" for value in MOVED.ci95)
    lines = [line.rstrip() for line in render(comparison(), width=120).splitlines()]
    assert lines[0] == "vstar · test · p: A to B"
    assert lines[4].split() == ["accuracy", "careful", "80.0", "60.0", "-20.0", low, "to", high, "0.500", "10"]
    assert [line for line in lines[5:] if line] == [
        "Higher in B (careful): none.",
        "Lower in B (careful): 2",
        "  q0: correct -> wrong",
        "  q1: correct -> wrong",
        "accuracy: exact McNemar test, paired by item; minimum detectable change "
        f"{MOVED.detectable:.1f} points (80 % power, n = 10).",
        "A note.",
    ]


def test_many_flips_are_cut_and_counted() -> None:
    flips = [Flip(item=f"q{n}", before=0, after=1, outcomes=(["wrong"], ["correct"])) for n in range(13)]
    said = render(comparison(risen=flips))
    assert "q9: " in said
    assert "q10: " not in said
    assert "... 3 more; -o FILE.json has all." in said


def test_several_samples_are_counted() -> None:
    outcomes = (["passed", "failed", "passed"], ["failed"] * 3)
    said = render(comparison(fallen=[Flip(item="q", before=2 / 3, after=0, outcomes=outcomes)]))
    assert "q: 67 % (2 passed, failed) -> 0 % (3 failed)" in said


def test_an_item_s_name_cannot_act_on_the_terminal() -> None:
    flip = Flip(item="\x1b[2Jq\nGATE MET", before=1, after=0, outcomes=(["correct"], ["wrong"]))
    said = render(comparison(fallen=[flip]))
    assert "\x1b" not in said
    assert " [2Jq GATE MET: correct -> wrong" in said


def test_where_nothing_differs_it_says_so() -> None:
    same: Difference = difference([1.0, 0.0], [1.0, 0.0])
    row = Compared(name="accuracy", reading="careful", group=None, before=50, after=50, difference=same)
    assert "accuracy: no item differs." in render(comparison(metrics=[row], fallen=[]))


def test_a_narrow_terminal_breaks_names_and_no_figure() -> None:
    row = Compared(
        name="vanilla_accuracy_all_passes", reading="official", group=None, before=80, after=60, difference=MOVED
    )
    lines = render(comparison(metrics=[row]), width=80).splitlines()
    low, high = (f"{value:+.1f}" for value in MOVED.ci95)
    assert lines[4].split()[1:] == ["official", "80.0", "60.0", "-20.0", low, "to", high, "0.500", "10"]
    assert "\u2026" not in "".join(lines)
