"""GitHub's Markdown: one run for a pull request (gates, metrics, differences), or a document of several runs.

A comment on GitHub can have 65,536 characters. All sections together have at most 60,000 bytes, so that the report fits
however characters are counted. Each section has its share; a longer one is cut between rows, with a count of the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import msgspec
from markupsafe import Markup

from grader.decisions import readings
from grader.predictions.record import all_of, counted
from grader.reports import provenance
from grader.reports.document import Table, interval
from grader.reports.markdown_text import code, prose
from grader.reports.text import cut
from grader.reports.why import also_found, bounds_in_words, outcome, readings_differ, why_unscored
from grader.results import excluded_from, in_percent, is_same, observations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from grader.decisions.gate import GateResult, State
    from grader.reports.document import Cell, Column, Document, Section
    from grader.results import Metric, Pair, Reading, Report, SampleResult
    from grader.scorers.registry import AnyScorer

Item = TypeVar("Item")
"""What a section has a row for."""
SHOWN_DIFFERENCES = 20
MOST_KINDS = 6
MOST_ROWS = 50
"""Rows of a list of items in a document; the JSON has all."""
MOST_BYTES = 60_000
"""Reports of files that do not fit into a document are left out, and counted."""

_STATES: dict[State, str] = {
    "failed": "❌ not met",
    "unscored": "⚠️ undecided",
    "inconclusive": "❔ inconclusive",
    "met": "✅ met",
}
"""State of a gate -> its text, the worst state first."""
_READINGS = Markup(
    "**official** is the verdict of the benchmark's own scorer, **careful** that of an attentive person."
)


def make(report: Report, _: object, gates: Sequence[GateResult] = (), /, **__: object) -> bytes:
    """Return the file; see `grader.reports.interface.Format`."""
    return render(report, gates)


def render(report: Report, gates: Sequence[GateResult] = ()) -> bytes:
    """Return the report as GitHub's Markdown, UTF-8, at most 60,000 bytes."""
    parts = (
        [_line("## grade: {} · {} · {}", code(report.benchmark), code(report.split), code(report.protocol))],
        _gates(gates),
        _metrics(report),
        _groups(report),
        _differences(report),
        _unscored(report),
        _notes(report),
        _facts(report),
    )
    return "\n\n".join("\n".join(part) for part in parts if part).encode() + b"\n"


def _line(words: str, *values: Markup | int) -> Markup:
    """Put escaped texts and numbers into a line. Plain text is an error: a forgotten escape is a security hole."""
    if any(not isinstance(value, Markup | int) for value in values):
        raise TypeError(f"a line was given plain text, not Markup: {words}")
    return Markup(words).format(*values)  # noqa: S704 - the words are the grader's own


def _rows(
    row: Callable[[Item], Markup], items: Sequence[Item], share: int, what: str, most: int | None = None
) -> list[Markup]:
    """Return the rows of the first items that fit into `share` bytes, at most `most`; `what` describes the others.

    No row is made that is not kept, except for the first that does not fit: a run can have thousands of differences.
    """
    shown: list[Markup] = []
    for item in items[:most]:
        line = row(item)
        share -= len(line.encode()) + 1
        if share < 0:
            break
        shown.append(line)
    left = len(items) - len(shown)
    return [*shown, Markup(), Markup("*… {} more {}.*").format(left, what)] if left else shown


def _folded(title: Markup, lines: Iterable[Markup]) -> list[Markup]:
    return [_line("<details><summary>{}</summary>", title), Markup(), *lines, Markup(), Markup("</details>")]


# --- gates ------------------------------------------------------------------------------------------------------


def _gates(gates: Sequence[GateResult]) -> list[Markup]:
    worst_first = sorted(gates, key=lambda gate: list(_STATES).index(gate.state))
    rows = _rows(_gate, worst_first, 6_000, "gates are in the command's output")
    return [_line("### {}", _verdict(gates)), Markup(), *rows] if gates else []


def _verdict(gates: Sequence[GateResult]) -> Markup:
    counts = Counter(gate.state for gate in gates)
    if set(counts) <= {"met"}:
        return Markup("✅ Every gate is met")
    sign = "❌" if counts["failed"] else "⚠️"
    words = (f"{counts[state]} {name.partition(' ')[2]}" for state, name in _STATES.items() if counts[state])
    return Markup("{} Gates: {}").format(sign, ", ".join(words))


def _gate(gate: GateResult) -> Markup:
    return _line("- **{}**: {}: {}", Markup(_STATES[gate.state]), code(gate.gate), prose(gate.reason))  # noqa: S704


# --- metrics ----------------------------------------------------------------------------------------------------


def _pairs(report: Report, *, grouped: bool) -> list[tuple[str, str | None, Pair]]:
    """Return the overall metrics, or those of groups, as (name, group, both readings), sorted by name."""
    pairs = report.pairs()
    names = list(dict.fromkeys(name for name, _ in pairs))
    chosen = [(name, group, pair) for (name, group), pair in pairs.items() if (group is not None) == grouped]
    return sorted(chosen, key=lambda row: names.index(row[0]))


def _metrics(report: Report) -> list[Markup]:
    overall = _pairs(report, grouped=False)
    return [*_metric_table(report, overall, 7_000), Markup(), _READINGS] if overall else []


def _groups(report: Report) -> list[Markup]:
    grouped = _pairs(report, grouped=True)
    table = _metric_table(report, grouped, 16_000, " group |", ":--|")
    return _folded(_line("By group ({})", len(grouped)), table) if grouped else []


def _metric_table(
    report: Report, pairs: Sequence[tuple[str, str | None, Pair]], share: int, head: str = "", kind: str = ""
) -> list[Markup]:
    mark = provenance.official_mark(report)
    heads = f"| metric |{head} official{mark} | careful | 95 % interval (careful) | n |"
    rows = _rows(lambda row: _metric_row(report, *row), pairs, share, "metrics are in the results file")
    return [Markup(heads), Markup(f"|:--|{kind}--:|--:|--:|--:|"), *rows]  # noqa: S704 - constants


def _metric_row(report: Report, name: str, group: str | None, pair: Pair) -> Markup:
    official, careful = pair
    is_plain = None in (official, careful) or is_same(official, careful)
    figure = in_percent(careful) if is_plain else Markup("**{}**").format(in_percent(careful))
    names = [code(name)] if group is None else [code(name), _group(group, report.abbreviations)]
    return _row([*names, in_percent(official), figure, interval(careful), observations(official, careful)])


def _group(group: str, abbreviations: Mapping[str, str]) -> Markup:
    short = abbreviations.get(group.partition("=")[2])
    return code(f"{group} ({short})" if short else group)


def _row(cells: Iterable[str]) -> Markup:
    return Markup("| {} |").format(Markup(" | ").join(cells))


# --- samples and facts ------------------------------------------------------------------------------------------


def _differences(report: Report) -> list[Markup]:
    different, total = report.differences(), len(report.samples)
    if not different:
        agreed = _line("Official and careful agree on {}.", prose(all_of(total, "sample")))
        return [agreed] if total else []
    scorer = scorer_of(report)
    counts = Counter((outcome(scorer, s.official), outcome(scorer, s.careful)) for s in different)
    kinds = (_line("{} {} to {}", n, code(a), code(b)) for (a, b), n in counts.most_common(MOST_KINDS))
    rest = "samples are in the results file"
    return [
        _line("### Official and careful differ on {} of {} samples", len(different), total),
        Markup(),
        Markup(", ").join(kinds),
        Markup(),
        Markup("| sample | official | careful | evidence |"),
        Markup("|:--|:--|:--|:--|"),
        *_rows(lambda sample: _difference(scorer, sample), different, 15_000, rest, SHOWN_DIFFERENCES),
    ]


def _difference(scorer: AnyScorer, sample: SampleResult) -> Markup:
    readings = (_reading(scorer, sample.reading(name), more) for name, more in also_found(scorer, sample).items())
    name = sample.qid if not sample.sample else f"{sample.qid} #{sample.sample}"
    return _row([code(name, 80), *readings, _evidence(scorer, sample)])


def _reading(scorer: AnyScorer, reading: Reading, more: str) -> Markup:
    name = code(outcome(scorer, reading))
    shown = Markup("{}: {}").format(name, code(reading.answer, 60)) if reading.answer else name
    return Markup("{}, {}").format(shown, prose(more)) if more else shown


def _evidence(scorer: AnyScorer, sample: SampleResult) -> Markup:
    """Return why the readings differ, and the first call with another answer."""
    why = " ".join(readings_differ(scorer, sample).split())
    phrases = [_sentence(why)] if why else []
    if (first := sample.other_call(sample.careful)) is not None:
        parts = code(first.call, 60), code(first.returned or "nothing", 60), code(first.expected, 60)
        phrases.append(Markup("{} returned {}, expected {}").format(*parts))
    return Markup("; ").join(phrases)


def _sentence(text: str, most: int = 200) -> Markup:
    """Return a sentence as text; one with words of a program as one code span, which breaks none of them."""
    shown = prose(text, most)
    return shown if str(shown) == cut(text, most) else code(text, most)


def _unscored(report: Report) -> list[Markup]:
    if not report.unscored:
        return []
    bounded = [metric for metric in report.metrics if metric.group is None and metric.bounds is not msgspec.UNSET]
    return [
        _line("### {} of {} unscored", report.unscored, prose(counted(len(report.samples), "sample"))),
        Markup(),
        _line(
            "Why: {}. Excluded from {}. Worst case (all wrong) to best case (all correct):",
            prose(why_unscored(report)),
            prose(excluded_from(report)),
        ),
        Markup(),
        *_rows(_bound, bounded, 4_000, "metrics are in the results file"),
    ]


def _bound(metric: Metric) -> Markup:
    return Markup("- {} ({}): {}").format(code(metric.name), metric.reading, bounds_in_words(metric))


def _notes(report: Report) -> list[Markup]:
    notes = [note for note in (*readings.in_words(report), *provenance.notes(report)) if note.strip()]
    rows = _rows(lambda note: _line("- {}", prose(note)), notes, 4_000, "notes are in the results file")
    return [Markup("### Notes"), Markup(), *rows] if notes else []


def _facts(report: Report) -> list[Markup]:
    facts = [(key, value) for key, value in provenance.made_with(report).items() if not _is_table(value)]
    rows = _rows(lambda fact: _fact(*fact), facts, 4_000, "facts are in the results file")
    return _folded(Markup("How it was made"), rows) if facts else []


def _is_table(value: object) -> bool:
    """Return whether a value is a large table, which only the results file shows."""
    return isinstance(value, dict) and (len(value) > 6 or any(isinstance(part, dict | list) for part in value.values()))


def _fact(key: str, value: object) -> Markup:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Markup("- {}: {}").format(code(key), code(shown, 200))


# --- a document -------------------------------------------------------------------------------------------------


def of_runs(document: Document) -> bytes:
    """Return a document."""
    lines = [f"## grade: {code(document.title)}", ""] if document.title else []
    for section in document.sections:
        lines += ["", f"### {code(section.title)}", ""] if section.title else []
        lines += _section(section)
    return ("\n".join(lines).strip() + "\n").encode()


def _section(section: Section) -> Iterator[str]:
    is_first = True
    for part in section.texts():
        if isinstance(part, str):
            yield f"- {prose(part)}"
        else:
            yield from _table(part, has_title=not is_first)
            is_first = False


def _table(table: Table, *, has_title: bool) -> Iterator[str]:
    yield ""
    if has_title:
        yield f"**{prose(table.title)}**"
        yield ""
    yield f"| {' | '.join(map(_head, table.columns))} |"
    yield f"| {' | '.join('--:' if column.kind == 'number' else ':--' for column in table.columns)} |"
    rows = table.rows[:MOST_ROWS] if table.is_list else table.rows
    for row in rows:
        yield f"| {' | '.join(_cell(cell, column) for cell, column in zip(row, table.columns, strict=True))} |"
    yield ""
    if left := len(table.rows) - len(rows):
        yield f"*… {left} more are in the .json.*"
        yield ""
    if table.note:
        yield str(prose(table.note))
        yield ""


def _head(column: Column) -> str:
    return str(prose(column.name))


def _cell(cell: Cell, column: Column) -> str:
    if column.kind == "name":
        return str(code(cell.text))
    # Two stars would mark emphasis.
    text = cell.text.replace("*", "\\*").replace("<", "&lt;")
    shown = f"**{text}**" if cell.tone == "strong" and text else text
    return f"{shown} <sup>{cell.letters}</sup>" if cell.letters else shown
