"""The document of a leaderboard: models by benchmarks, then each benchmark's runs, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.predictions.record import counted
from grader.reports import published
from grader.reports.document import (
    EVERYWHERE,
    NOTHING,
    PAGES,
    TEXTS,
    Cell,
    Column,
    Document,
    Section,
    Table,
    interval,
    notes_below,
    p_value,
    page_of,
    signed,
    value,
)
from grader.reports.why import about_readings
from grader.results import READINGS, change, grouped, observations
from grader.scorers import declarations
from grader.statistics.corrections import letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.decisions.comparison import RunName
    from grader.decisions.leaderboard import Board, Leaderboard, Pair, Ranking
    from grader.results import ReadingName, Report

MOST_ACROSS = 6
"""Maximum number of categories as columns; with more categories, the runs are the columns."""
MOST_IN_MATRIX = 12
"""Maximum number of runs in the matrix of comparisons."""
_MODEL = Column(name="model", kind="name")


def document(
    leaderboard: Leaderboard, folder: Path | None = None, among: Sequence[tuple[RunName, Report]] = ()
) -> Document:
    """Return all boards. `folder`: that of the page, from which names link to the pages of their runs.

    `among`: the runs to show among the published models of their benchmarks.
    """
    overview = (
        [Section(title="Models by benchmarks", parts=[_overview(leaderboard)])] if len(leaderboard.boards) > 1 else []
    )
    return Document(
        names=["Leaderboard"],
        facts=[
            counted(len(leaderboard.models()), "model"),
            ", ".join(dict.fromkeys(board.title for board in leaderboard.boards)),
            f"ordered by the {leaderboard.reading} reading",
        ],
        lead=about_readings(board.benchmark for board in leaderboard.boards),
        sections=[
            *overview,
            *(_board(board, leaderboard, folder) for board in leaderboard.boards),
            *_among_published(among),
        ],
        records=lambda: (
            row for board in leaderboard.boards for ranking in board.rankings for row in _records(board, ranking)
        ),
        data=lambda: leaderboard,
    )


def _board(board: Board, leaderboard: Leaderboard, folder: Path | None) -> Section:
    order = board.ranking(board.metric, leaderboard.reading)
    part = f" · a part: {board.part.n} of {board.part.of}" if board.part is not None else ""
    judge = f" · {board.judge}" if board.judge in _own_facts(board, leaderboard.boards) else ""
    cards = [*_groups(board, order), *_matrix(board, order), *_others(board), *_categories(board, leaderboard)]
    return Section(
        title=f"{board.title} · {board.split} · {board.protocol}{part}{judge}: {board.metric.replace('_', ' ')}",
        parts=[
            _ranked(board, leaderboard, order, folder),
            *_method(leaderboard, order),
            *board.notes,
            *_signs(board),
            *cards,
        ],
    )


def _among_published(runs: Sequence[tuple[RunName, Report]]) -> Iterator[Section]:
    for benchmark, members in grouped(runs, lambda run: run[1].benchmark).items():
        known = published.load(benchmark)
        if known is None:
            yield Section(title=f"Published models of {benchmark}", parts=["No published values are known here."])
            continue
        named = [(name.short, report, published.why_not(report, known)) for name, report in members]
        compared = [(name, report) for name, report, why in named if not why]
        apart = [f"{name} is not among the published models: {why}." for name, _, why in named if why]
        made = [published.table(compared, known)] if compared else []
        yield Section(title=f"Published models of {declarations.name_of(members[0][1])}", parts=[*made, *apart])


def _overview(leaderboard: Leaderboard) -> Table:
    rows = []
    for model in leaderboard.models():
        rows.append([Cell(text=model)])
        for board in leaderboard.boards:
            rows[-1] += [_cell(board, board.ranking(board.metric, reading), board.place(model)) for reading in READINGS]
    heads = [Column(name=f"{name}, {reading}") for name in _names(leaderboard.boards) for reading in READINGS]
    return Table(title="Models by benchmarks", columns=[_MODEL, *heads], rows=rows)


def _names(boards: Sequence[Board]) -> list[str]:
    """Return the title and the metric of each board, and what tells it from other boards of the same title."""
    names: list[str] = []
    for board in boards:
        name = ", ".join([f"{board.title} {board.metric.replace('_', ' ')}", *_own_facts(board, boards)])
        same = sum(known == name or known.startswith(f"{name}, table ") for known in names)
        names.append(f"{name}, table {same + 1}" if same else name)
    return names


def _own_facts(board: Board, boards: Sequence[Board]) -> list[str]:
    """Return the facts that not all boards of the same title have."""
    alike = [_facts(other) for other in boards if other.title == board.title]
    return [fact for fact in _facts(board) if any(fact not in facts for facts in alike)]


def _facts(board: Board) -> list[str]:
    part = f"{board.part.n} of {board.part.of}" if board.part is not None else "all items"
    return [board.split, board.protocol, part, board.judge]


def _ranked(board: Board, leaderboard: Leaderboard, order: Ranking | None, folder: Path | None) -> Table:
    columns = [
        Column(name="rank", kind="word", title="The best and the worst rank that the tests allow"),
        _MODEL,
        Column(name="", kind="drawn", where=PAGES),
        *(Column(name=reading) for reading in READINGS),
        Column(name=f"95 % interval ({leaderboard.reading})", where=TEXTS),
        Column(
            name="careful \N{MINUS SIGN} official",
            where=PAGES,
            title="In points; – if unscored samples are excluded from one of them",
        ),
        Column(name="n", title="Number of items (official and careful, if they differ)"),
    ]
    rows = [_run(board, order, at, folder) for at in range(len(board.runs))]
    return Table(title="Runs", columns=columns, rows=rows)


def _run(board: Board, order: Ranking | None, at: int, folder: Path | None) -> list[Cell]:
    run = board.runs[at]
    both = {reading: board.ranking(board.metric, reading) for reading in READINGS}
    metrics = {reading: ranking.values[at] if ranking else None for reading, ranking in both.items()}
    shown = order.values[at] if order else None
    moved = change(*metrics.values())
    text = NOTHING if moved is None else signed(moved)
    return [
        Cell(text=_rank(order.ranks[at] if order else None)),
        Cell(text=run.short, title=run.results, link=page_of(run.results, folder)),
        Cell(metrics=metrics),
        *(_cell(board, ranking, at) for ranking in both.values()),
        Cell(text=interval(shown)),
        Cell(text=text, tone="faint" if text in (NOTHING, "0.0") else "strong"),
        Cell(text=observations(*metrics.values())),
    ]


def _rank(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return NOTHING
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _cell(board: Board, ranking: Ranking | None, at: int | None) -> Cell:
    if ranking is None or at is None:
        return Cell(text=NOTHING)
    metric = ranking.values[at]
    text = value(metric, board.runs[at].official_notes)
    return Cell(text=text, letters=ranking.letters[at], reading=ranking.reading, below=interval(metric))


def _method(leaderboard: Leaderboard, ranking: Ranking | None) -> list[str]:
    """Return how the runs were compared and ranked."""
    if ranking is None or not ranking.comparisons:
        return []
    names = dict.fromkeys(pair.test for pair in ranking.pairs)
    tests = " or ".join(name for name in names if name != "no difference to test") or "no item differs"
    return [
        "Runs that share a letter in a column do not differ significantly. Every pair of runs is compared with a "
        f"paired test by item ({tests}). P values are corrected for {counted(ranking.comparisons, 'comparison')} "
        f"({leaderboard.correction}, level {100 * leaderboard.level:g} %). The rank is the best and the worst rank "
        "that these tests allow."
    ]


def _signs(board: Board) -> list[str]:
    """Return what the signs beside values mean."""
    starred = any("*" in value(metric) for ranking in board.rankings for metric in ranking.values)
    notes = notes_below((run.short, run.official_notes) for run in board.runs)
    return [
        *(["* Unscored samples are excluded. n is that of official and of careful if they differ."] if starred else []),
        *notes,
    ]


def _groups(board: Board, order: Ranking | None) -> Iterator[Table]:
    """Yield the table of groups whose runs do not differ significantly."""
    if order is None or not order.groups:
        return
    rows = [
        [Cell(letters=letter, reading=order.reading), Cell(text=", ".join(board.runs[at].short for at in group))]
        for letter, group in zip(letters(len(order.groups)), order.groups, strict=True)
    ]
    columns = [Column(name="letter", kind="word"), Column(name="models", kind="name")]
    title = f"Models that do not differ significantly, {order.reading}"
    yield Table(title=title, columns=columns, rows=rows, is_card=True, where=PAGES)


def _matrix(board: Board, order: Ranking | None) -> Iterator[Table]:
    """Yield the table of differences between each run (row) and each other run (column)."""
    if order is None or not 2 <= len(board.runs) <= MOST_IN_MATRIX:
        return
    moves = {}
    for pair in order.pairs:
        moves[pair.b, pair.a] = _move(pair, 1)
        moves[pair.a, pair.b] = _move(pair, -1)
    names = [run.short for run in board.runs]
    yield Table(
        title=f"Pairs of models, {order.reading}",
        columns=[_MODEL, *(Column(name=name) for name in names)],
        rows=[
            [Cell(text=name), *(moves.get((row, column), Cell(text="·", tone="faint")) for column in range(len(names)))]
            for row, name in enumerate(names)
        ],
        note="The row's value minus the column's, in points, with the corrected p value below. Significant differences "
        "are bold.",
        is_card=True,
        where=PAGES,
    )


def _move(pair: Pair, sign: int) -> Cell:
    low, high = sorted(sign * end for end in pair.ci95)
    return Cell(
        text=signed(sign * pair.change),
        below=f"p {p_value(pair.corrected)}",
        title=f"95 % interval {signed(low)} to {signed(high)}",
        tone="strong" if pair.is_different else "",
    )


def _others(board: Board) -> Iterator[Table]:
    names = [name for name in board.metrics if name != board.metric]
    if not names:
        return
    every_ranking = (board.ranking(name, reading) for name in names for reading in READINGS)
    rankings = [ranking for ranking in every_ranking if ranking is not None and any(ranking.values)]
    heads = [Column(name=f"{ranking.metric.replace('_', ' ')}, {ranking.reading}") for ranking in rankings]
    rows = [
        [Cell(text=run.short), *(_cell(board, ranking, at) for ranking in rankings)]
        for at, run in enumerate(board.runs)
    ]
    yield Table(title="Other metrics", columns=[_MODEL, *heads], rows=rows, is_card=True)


def _categories(board: Board, leaderboard: Leaderboard) -> Iterator[Table]:
    for field, groups in grouped(board.groups, lambda group: group.partition("=")[0]).items():
        for reading in (leaderboard.reading, *(reading for reading in READINGS if reading != leaderboard.reading)):
            yield _category(board, reading, field, groups, is_first=reading == leaderboard.reading)


def _category(board: Board, reading: ReadingName, field: str, groups: list[str], *, is_first: bool) -> Table:
    """Return the values by category; with many categories, these are the rows."""
    rankings = [board.ranking(board.metric, reading, group) for group in groups]
    labels = [group.partition("=")[2].replace("_", " ") for group in groups]
    names = [run.short for run in board.runs]
    cells = [[_cell(board, ranking, at) for ranking in rankings] for at in range(len(names))]
    number = next((ranking.comparisons for ranking in rankings if ranking), 0)
    corner, heads, left = "model", labels, names
    if is_turned := len(groups) > MOST_ACROSS:
        corner, heads, left = field.replace("_", " "), names, labels
        cells = [list(column) for column in zip(*cells, strict=True)]
    return Table(
        title=f"By {field.replace('_', ' ')}, {reading}",
        columns=[Column(name=corner, kind="name"), *(Column(name=head) for head in heads)],
        rows=[[Cell(text=name), *row] for name, row in zip(left, cells, strict=True)],
        note=f"Letters: corrected for {counted(number, 'comparison')}." if number else "",
        is_list=is_turned,
        is_card=True,
        where=EVERYWHERE if is_first else PAGES,
    )


def _records(board: Board, ranking: Ranking) -> Iterator[dict[str, object]]:
    for run, metric, ranks, groups in zip(board.runs, ranking.values, ranking.ranks, ranking.letters, strict=True):
        if metric is None:
            continue
        low, high = metric.ci95 or (None, None)
        best, worst = ranks or (None, None)
        yield {
            "benchmark": board.benchmark,
            "split": board.split,
            "protocol": board.protocol,
            "model": run.short,
            "results": run.results,
            "metric": ranking.metric,
            "reading": ranking.reading,
            "group": ranking.group,
            "value": metric.value,
            "ci95_low": low,
            "ci95_high": high,
            "n": metric.n,
            "rank_best": best,
            "rank_worst": worst,
            "letters": groups,
            "comparisons": ranking.comparisons,
        }
