"""The report for a pull request, in GitHub's Markdown: gates, metrics, then the samples whose readings differ.

A comment on GitHub can have 65,536 characters. All sections together have at most 60,000 bytes, so that the report fits
however characters are counted. Each section has its share; a longer one is cut between rows, with a count of the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from markupsafe import Markup

from grader.decisions import readings
from grader.predictions.record import all_of, counted
from grader.reports import provenance
from grader.reports.markdown_text import code, prose
from grader.reports.table import OTHER_PYTHON, interval, is_marked
from grader.reports.text import cut
from grader.reports.why import bounds_in_words, outcome, readings_differ, why_unscored
from grader.results import excluded_from, in_percent, is_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grader.decisions.gate import GateResult, State
    from grader.results import Metric, Pair, Reading, Report, SampleResult

Item = TypeVar("Item")
"""What a section has a row for."""
SHOWN_DIFFERENCES = 20
MOST_KINDS = 6

_STATES: dict[State, str] = {
    "failed": "❌ not met",
    "unscored": "⚠️ unscored",
    "inconclusive": "❔ inconclusive",
    "met": "✅ met",
}
"""State of a gate -> its text, the worst state first."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One section, with the rows that fit."""

    rows: list[Markup]
    all: int
    cut: Markup
    """A line with the number of omitted rows; empty if all are shown."""


def make(report: Report, _: object, gates: Sequence[GateResult] = (), /, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`."""
    return render(report, gates)


def render(report: Report, gates: Sequence[GateResult] = ()) -> bytes:
    """Return the report as GitHub's Markdown, UTF-8, at most 60,000 bytes."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("markdown.md.j2").render(_view(report, gates))
    return _without_gaps(text).encode()


def _finalize(value: object) -> object:
    """Accept only escaped text and numbers, so that a forgotten escape is an error, not a security hole."""
    if isinstance(value, Markup | int):
        return value
    raise TypeError(f"the template was given {type(value).__name__}, not Markup")


def _without_gaps(text: str) -> str:
    """Replace several empty lines by one."""
    lines: list[str] = []
    for line in text.splitlines():
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n") + "\n"


def _view(report: Report, gates: Sequence[GateResult]) -> dict[str, object]:
    pairs = _pairs(report)
    short = report.abbreviations
    different = report.differences()
    overall = [(name, None, pair) for (name, group), pair in pairs.items() if group is None]
    grouped = [(name, _group(group, short), pair) for (name, group), pair in pairs.items() if group is not None]
    facts = [(key, value) for key, value in provenance.made_with(report).items() if not _is_table(value)]
    return {
        "benchmark": code(report.benchmark),
        "split": code(report.split),
        "protocol": code(report.protocol),
        "verdict": _verdict(gates),
        "gates": _section(_gate, sorted(gates, key=_severity), 6_000, "gates are in the command's output"),
        "metrics": _section(lambda row: _metric_row(*row), overall, 7_000, "metrics are in the results file"),
        "groups": _section(lambda row: _metric_row(*row), grouped, 16_000, "metrics are in the results file"),
        "samples": len(report.samples),
        "differences": _section(
            lambda sample: _difference(report, sample),
            different,
            15_000,
            "samples are in the results file",
            SHOWN_DIFFERENCES,
        ),
        "kinds": _kinds(report, different),
        "mark": Markup(f" {OTHER_PYTHON}" if is_marked(report) else ""),  # noqa: S704 - a constant
        "unscored": report.unscored,
        "why_unscored": prose(why_unscored(report)),
        "excluded_from": prose(excluded_from(report)),
        "all_samples": prose(all_of(len(report.samples), "sample")),
        "samples_counted": prose(counted(len(report.samples), "sample")),
        "bounds": _section(_bound, _bounded(report), 4_000, "metrics are in the results file"),
        "notes": _section(
            lambda note: Markup("- ") + prose(note),
            [note for note in (*readings.in_words(report), *provenance.notes(report)) if note.strip()],
            4_000,
            "notes are in the results file",
        ),
        "facts": _section(lambda fact: _fact(*fact), facts, 4_000, "facts are in the results file"),
    }


def _section(
    row: Callable[[Item], Markup], items: Sequence[Item], share: int, what: str, most: int | None = None
) -> Section:
    """Keep the rows of the first items that fit into `share` bytes, at most `most`; `what` describes the others.

    No row is made that is not kept, except for the first that does not fit: a run can have thousands of differences.
    """
    kept: list[Markup] = []
    for item in items[:most]:
        made = row(item)
        share -= len(made.encode()) + 1
        if share < 0:
            break
        kept.append(made)
    left = len(items) - len(kept)
    cut = Markup("*… {} more {}.*").format(left, what)
    return Section(rows=kept, all=len(items), cut=cut if left else Markup())


# --- gates ------------------------------------------------------------------------------------------------------


def _severity(gate: GateResult) -> int:
    return list(_STATES).index(gate.state)


def _verdict(gates: Sequence[GateResult]) -> Markup:
    counts = Counter(gate.state for gate in gates)
    if set(counts) <= {"met"}:
        return Markup("✅ Every gate is met")
    sign = "❌" if counts["failed"] else "⚠️"
    return Markup("{} Gates: {}").format(
        sign, Markup(", ").join(Markup("{} {}").format(counts[s], _words(s)) for s in _STATES if counts[s])
    )


def _words(state: State) -> Markup:
    return Markup(_STATES[state].partition(" ")[2])  # noqa: S704 - a constant


def _gate(gate: GateResult) -> Markup:
    state = Markup(_STATES[gate.state])  # noqa: S704 - a constant
    return Markup("- **{}**: {}: {}").format(state, code(gate.gate), prose(gate.reason))


# --- metrics ----------------------------------------------------------------------------------------------------


def _pairs(report: Report) -> dict[tuple[str, str | None], Pair]:
    """Return the metrics by (name, group), sorted by name."""
    pairs = report.pairs()
    names = list(dict.fromkeys(name for name, _ in pairs))
    return dict(sorted(pairs.items(), key=lambda item: names.index(item[0][0])))


def _group(group: str, abbreviations: dict[str, str]) -> Markup:
    label = group.partition("=")[2]
    short = abbreviations.get(label)
    return code(f"{group} ({short})" if short else group)


def _metric_row(name: str, group: Markup | None, pair: Pair) -> Markup:
    official, careful = pair
    one = careful or official
    assert one is not None
    is_plain = None in (official, careful) or is_same(official, careful)
    figure = in_percent(careful) if is_plain else Markup("**{}**").format(in_percent(careful))
    names = [code(name)] if group is None else [code(name), group]
    return _row([*names, in_percent(official), figure, interval(one), str(one.n)])


def _bounded(report: Report) -> list[Metric]:
    return [metric for metric in report.metrics if metric.group is None and metric.bounds is not msgspec.UNSET]


def _bound(metric: Metric) -> Markup:
    return Markup("- {} ({}): {}").format(code(metric.name), metric.reading, bounds_in_words(metric))


def _row(cells: Iterable[str]) -> Markup:
    return Markup("| {} |").format(Markup(" | ").join(cells))


# --- samples and facts ------------------------------------------------------------------------------------------


def _kinds(report: Report, different: Sequence[SampleResult]) -> Markup:
    counts = Counter((outcome(report, s.official), outcome(report, s.careful)) for s in different)
    return Markup(", ").join(
        Markup("{} {} to {}").format(n, code(official), code(careful))
        for (official, careful), n in counts.most_common(MOST_KINDS)
    )


def _difference(report: Report, sample: SampleResult) -> Markup:
    readings = (_reading(report, reading) for reading in (sample.official, sample.careful))
    name = sample.qid if not sample.sample else f"{sample.qid} #{sample.sample}"
    return _row([code(name, 80), *readings, _evidence(report, sample)])


def _reading(report: Report, reading: Reading) -> Markup:
    name = code(outcome(report, reading))
    return Markup("{}: {}").format(name, code(reading.answer, 60)) if reading.answer else name


def _evidence(report: Report, sample: SampleResult) -> Markup:
    """Return why the readings differ, and the first other call."""
    why = " ".join(readings_differ(report, sample).split())
    found = [_sentence(why)] if why else []
    if (first := sample.other_call(sample.careful)) is not None:
        parts = code(first.call, 60), code(first.returned or "nothing", 60), code(first.expected, 60)
        found.append(Markup("{} returned {}, expected {}").format(*parts))
    return Markup("; ").join(found)


def _sentence(text: str, most: int = 200) -> Markup:
    """Return a sentence as text; one with words of a program as one code span, which breaks none of them."""
    shown = prose(text, most)
    return shown if str(shown) == cut(text, most) else code(text, most)


def _is_table(value: object) -> bool:
    """Return whether a value is a large table, which only the results file shows."""
    return isinstance(value, dict) and (len(value) > 6 or any(isinstance(part, dict | list) for part in value.values()))


def _fact(key: str, value: object) -> Markup:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Markup("- {}: {}").format(code(key), code(shown, 200))
