"""What documents show of gates: their table, their cases for readers of test results, and the document of a policy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from grader.decisions.gate import WORST_FIRST
from grader.reports.document import EVERYWHERE, Case, Cell, Column, Document, Section, Suite, Table
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult, State
    from grader.decisions.policy import Decisions
    from grader.reports.document import Media

_SIGNS: dict[State, str] = {"blocked": "⚠️", "not met": "❌", "inconclusive": "❔", "met": "✅"}


def document(decisions: Decisions) -> Document:
    """Return the document of a policy's gates."""
    return Document(
        names=["Gates", decisions.policy],
        facts=[counted(len(decisions.gates), "gate"), f"exit code {decisions.exit_code}"],
        sections=[section(decisions.gates, media=EVERYWHERE)],
        data=lambda: decisions,
        records=lambda: (
            {"gate": gate.gate, "state": gate.state, "advisory": gate.is_advisory, "reason": gate.reason}
            for gate in decisions.gates
        ),
        columns=("gate", "state", "advisory", "reason"),
        suites=lambda: suites(decisions.gates, "policy"),
    )


def section(gates: Sequence[GateResult], media: Media = ("file", "page")) -> Section:
    """Return the gates in a table, the worst first. The command of one run prints them itself on a terminal."""
    deciding = Counter(gate.state for gate in gates if not gate.is_advisory)
    worst: State = next((state for state in WORST_FIRST if deciding[state]), "met")
    words = ", ".join(f"{deciding[state]} {state}" for state in WORST_FIRST if deciding[state])
    if not deciding:
        title = "No gate decides: all are advisory"
    elif worst != "met":
        title = f"Gates: {words}"
    elif all(gate.state == "met" for gate in gates):
        title = "Every gate is met"
    else:
        title = "Every gate that decides is met"
    rows = sorted(gates, key=lambda gate: (gate.is_advisory, WORST_FIRST.index(gate.state)))
    return Section(
        media=media,
        sign=_SIGNS[worst],
        title=title,
        parts=[
            Table(
                title="Gates",
                columns=[
                    Column(name="state", kind="word"),
                    Column(name="gate", kind="name"),
                    Column(name="why", kind="sentence"),
                ],
                rows=[
                    [
                        Cell(text=f"{_SIGNS[gate.state]} {gate.state}"),
                        Cell(text=f"{gate.gate}{' (advisory)' if gate.is_advisory else ''}"),
                        Cell(text=gate.reason),
                    ]
                    for gate in rows
                ],
            )
        ],
    )


def suites(gates: Sequence[GateResult], name: str) -> list[Suite]:
    """Return one suite with the gates as cases; none without gates.

    An advisory gate is skipped if it is not met: it must not fail a build. `name`: that of the benchmark or the policy.
    """
    return [Suite(name="gates", cases=[_case(gate, f"{name}.gates") for gate in gates])] if gates else []


def _case(gate: GateResult, class_name: str) -> Case:
    """Return the case of a gate. One that could not be decided is an error, so that no CI system shows success."""
    states: dict[State, Literal["passed", "failed", "error"]] = {"met": "passed", "not met": "failed"}
    state = states.get(gate.state, "error")
    return Case(
        name=gate.gate,
        class_name=class_name,
        state="skipped" if gate.is_advisory and state != "passed" else state,
        kind=gate.state,
        message=gate.reason,
    )
