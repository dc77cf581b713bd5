"""Reports that the tests of several formats share: small ones made here, and those of the bundled samples."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from grader.decisions.gate import GateResult
from grader.results import (
    JudgeProvenance,
    Metric,
    Note,
    Outcome,
    Provenance,
    Reading,
    Report,
    SampleResult,
    SandboxProvenance,
    UnscoredCounts,
)
from grader.scorers.choice.scorer import MultipleChoice
from grader.scorers.interface import Summary
from grader.scorers.mr_ben.facts import MrBenFacts, MrBenRunFacts, ReadingFacts
from tests.made_runs import BENCHMARKS, SAMPLES, of_sample

__all__ = ["BENCHMARKS", "SAMPLES", "of_sample"]


def gate(asked: str, state: Any, reason: str) -> GateResult:
    return GateResult(gate=asked, state=state, reason=reason)


def read(outcome: str, answer: str | None = None, detail: str = "", rule: str = "") -> Reading:
    credit = int(outcome in {"passed", "correct"})
    return Reading(outcome=Outcome(outcome), credit=credit, answer=answer, detail=detail, rule=rule or msgspec.UNSET)


def sample(qid: str, official: Reading, careful: Reading | None = None, **fields: Any) -> SampleResult:
    return SampleResult(
        qid=qid, sample=fields.pop("number", 0), official=official, careful=careful or official, **fields
    )


def report(samples: list[SampleResult] | None = None, **fields: Any) -> Report:
    given = {
        "benchmark": "vstar",
        "scorer": "multiple_choice",
        "split": "test",
        "protocol": "lmms-eval-0.7.1",
        "metrics": [],
    }
    return Report(**given | {"samples": samples or []} | fields)  # type: ignore[arg-type]


def lost() -> Report:
    """A report whose only sample is unscored in the careful reading, which therefore has no metric."""
    official = Metric(name="accuracy", reading="official", value=0.0, ci95=(0.0, 79.3), n=1)
    one = sample("q1", read("no_answer"), read("unscored", rule="server_failure"))
    return report([one], metrics=[official], unscored=1, unscored_by_reading=UnscoredCounts(careful=1))


HOSTILE = [
    "<script>alert(1)</script>",
    "</details><img src=x onerror=alert(1)>",
    "![x](https://example.com/x.png)",
    "[x](javascript:alert(1))",
    "[x]: https://example.com",
    "https://example.com/?q=1 www.example.com http://a.b",
    "someone@example.com",
    "@someone and @org/team",
    "#12 GH-12 org/repo#12 0123456789abcdef0123456789abcdef01234567",
    ":tada: $x^2$ $$x$$ [^1] [!NOTE]",
    "a | b || c \\| d \\",
    "`code` ``more`` ``` fence\n```\nend",
    "| a | b |\n|--|--|\n| c | d |",
    "# heading\n\n- list\n1. list\n\n> quote\n\n---",
    "*a* **b** _c_ __d__ ~~e~~ &amp; &#64; \\*",
    "]]> <![CDATA[ <!-- --> <?x?>",
    "nul \0 escape \x1b[31m half \ud800 \udfff bidi \u202e end",
    "=1+1",
    "\t=1+1",
    "@SUM(A1)",
    "'=1",
    " ",
    "`",
    "|",
    "\\",
    "😀 答案是B",
]
"""Texts that would do something where they are taken for more than text."""

any_text = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=())),
    st.text("`|\\ <>[]()!@#*_~$:&=+-'\";,\n\r\ta1.", max_size=30),
)
"""Any text at all, half characters and all, with a liking for those that mean something."""


def hostile_report(text: str) -> Report:
    """A report with this text wherever a report holds text that others wrote."""
    official = Reading(outcome=Outcome.WRONG, credit=0, answer=text, detail=text, rule=text)
    careful = Reading(outcome=Outcome.UNSCORED, credit=None, answer=text, detail=text, rule=f"{text}!")
    kept = text.encode(errors="replace").decode()  # JSON has no half characters
    said = ReadingFacts(correctness=kept, step=None, reason=None)
    facts = MrBenFacts(gold=kept, gold_step=kept, official=said, careful=said, judge=kept, difference=kept)
    metrics = [
        Metric(name=text, reading=reading, group=group, value=50.0, ci95=(40.0, 60.0), n=2, bounds=(0.0, 100.0))
        for reading in ("official", "careful")
        for group in (None, f"field={text}")
    ]
    return Report(
        benchmark=text,
        benchmark_name=text,
        scorer="mr_score",
        split=text,
        protocol=text,
        metrics=metrics,
        samples=[
            sample(text, official, careful, groups={text: [text, "b"]}, facts=facts, unit=text),
            sample(f"{text}2", careful, official, number=1, groups={text: text}, facts=facts),
        ],
        unscored=2,
        provenance=Provenance(
            data=text,
            predictions=text,
            sandbox=SandboxProvenance(backend=text, image=text),
            judge=JudgeProvenance(source=text, model=text),
        ),
        facts=MrBenRunFacts(difference_kinds={kept: 1}, counts={kept: {kept: {kept: 1}}}),
        baselines={text: {text: 1.0}},
        abbreviations={text: text},
        notes=[Note(text), Note(f"A note on {text}.")],
    )


class ManyFacts(MultipleChoice):
    """A scorer that keeps a hundred facts of a run, each of them the report's first note."""

    def summary(self, report: Report) -> Summary:
        return Summary(facts={f"{n}{report.notes[0].text}": report.notes[0].text for n in range(100)})


def hostile_gates(text: str) -> list[GateResult]:
    states = ("met", "not met", "inconclusive", "blocked")
    return [gate(text, state, text) for state in states]
