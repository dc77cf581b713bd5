"""The document of a leaderboard: models by benchmarks, then each benchmark's runs, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.document import (
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
    page_of,
    signed,
    value,
)
from grader.reports.why import about_readings
from grader.results import READINGS, observation_counts, reading_change
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.decisions.leaderboard import Board, Leaderboard
    from grader.decisions.published import PublishedModel
    from grader.results import Metric, ReadingName

_MODEL = Column(name="model", kind="name")


def document(leaderboard: Leaderboard, folder: Path | None = None) -> Document:
    """Return all boards. `folder`: that of the page, from which names link to the pages of their runs."""
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
        sections=[*overview, *(_board(board, leaderboard, folder) for board in leaderboard.boards)],
        records=lambda: (row for board in leaderboard.boards for row in _records(board)),
        data=lambda: leaderboard,
    )


def _board(board: Board, leaderboard: Leaderboard, folder: Path | None) -> Section:
    part = f" · a part: {board.part.n} of {board.part.of}" if board.part is not None else ""
    judge = f" · {board.judge}" if board.judge in _own_facts(board, leaderboard.boards) else ""
    return Section(
        title=f"{board.title} · {board.split} · {board.protocol}{part}{judge}: {board.metric}",
        parts=[
            _ranked(board, leaderboard.reading, folder),
            *_method(leaderboard, board),
            *board.notes,
            *_signs(board),
        ],
    )


def _overview(leaderboard: Leaderboard) -> Table:
    rows = []
    for model in leaderboard.models():
        rows.append([Cell(text=model)])
        for board in leaderboard.boards:
            rows[-1] += [_cell(board, reading, board.index_of(model)) for reading in READINGS]
    heads = [Column(name=f"{name}, {reading}") for name in _names(leaderboard.boards) for reading in READINGS]
    return Table(title="Models by benchmarks", columns=[_MODEL, *heads], rows=rows)


def _names(boards: Sequence[Board]) -> list[str]:
    """Return the title and the metric of each board, and what tells it from other boards of the same title."""
    names: list[str] = []
    for board in boards:
        name = ", ".join([f"{board.title} {board.metric}", *_own_facts(board, boards)])
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


def _ranked(board: Board, order: ReadingName, folder: Path | None) -> Table:
    columns = [
        Column(name="rank", kind="word", title="The best and the worst rank that the tests allow"),
        _MODEL,
        Column(name="", kind="drawn", where=PAGES),
        *(Column(name=reading) for reading in READINGS),
        Column(name=f"95 % interval ({order})", where=TEXTS),
        Column(
            name="careful \N{MINUS SIGN} official",
            where=PAGES,
            title="In points; – if unscored samples are excluded from one of them",
        ),
        Column(name="n", title="Number of items (official and careful, if they differ)"),
    ]
    values = board.rankings[order].values
    rows = [(_number(values[at]), _run(board, order, at, folder)) for at in range(len(board.runs))]
    rows += [(model.value, _published(model)) for model in board.published]
    return Table(title="Runs", columns=columns, rows=[cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def _number(metric: Metric | None) -> float:
    """Return the value that orders a run; a run without a value is last."""
    return -1.0 if metric is None or metric.value is None else metric.value


def _run(board: Board, order: ReadingName, at: int, folder: Path | None) -> list[Cell]:
    run = board.runs[at]
    metrics = {reading: board.rankings[reading].values[at] for reading in READINGS}
    moved = reading_change(*metrics.values())
    text = NOTHING if moved is None else signed(moved)
    return [
        Cell(text=_rank(board.rankings[order].ranks[at])),
        Cell(text=run.short, title=run.results, link=page_of(run.results, folder)),
        Cell(metrics=metrics),
        *(_cell(board, reading, at) for reading in READINGS),
        Cell(text=interval(metrics[order])),
        Cell(text=text, tone="faint" if text in (NOTHING, "0.0") else ""),
        Cell(text=observation_counts(*metrics.values())),
    ]


def _published(model: PublishedModel) -> list[Cell]:
    nothing = Cell(text=NOTHING)
    return [
        nothing,
        Cell(text=f"{model.model}, {model.mode}", title="published"),
        Cell(),
        Cell(text=f"{model.value:.1f}"),
        *([nothing] * 4),
    ]


def _rank(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return NOTHING
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _cell(board: Board, reading: ReadingName, at: int | None) -> Cell:
    if at is None:
        return Cell(text=NOTHING)
    metric = board.rankings[reading].values[at]
    return Cell(text=value(metric, board.runs[at].official_notes), below=interval(metric))


def _method(leaderboard: Leaderboard, board: Board) -> list[str]:
    """Return how the runs were compared and ranked."""
    ranking, said = board.rankings[leaderboard.reading], []
    if ranking.comparisons:
        names = [name for name in ranking.tests if name != "no difference to test"]
        said.append(
            f"Every pair of runs is compared with a paired test by item ({' or '.join(names) or 'no item differs'}). "
            f"P values are corrected for {counted(ranking.comparisons, 'comparison')} ({leaderboard.correction}, level "
            f"{100 * leaderboard.level:g} %). The rank is the best and the worst rank that these tests allow."
        )
    if board.published:
        said.append(
            "Published values have no interval: the rank of a run counts those above its own 95 % interval as ahead, "
            "and those below it as behind."
        )
    return said


def _signs(board: Board) -> list[str]:
    """Return what the signs beside values mean."""
    starred = any("*" in value(metric) for ranking in board.rankings.values() for metric in ranking.values)
    notes = notes_below((run.short, run.official_notes) for run in board.runs)
    return [
        *(["* Unscored samples are excluded. n is that of official and of careful if they differ."] if starred else []),
        *notes,
    ]


def _records(board: Board) -> Iterator[dict[str, object]]:
    rows = (
        (reading, ranking.comparisons, *row)
        for reading, ranking in board.rankings.items()
        for row in zip(board.runs, ranking.values, ranking.ranks, strict=True)
    )
    for reading, comparisons, run, metric, ranks in rows:
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
            "metric": board.metric,
            "reading": reading,
            "value": metric.value,
            "ci95_low": low,
            "ci95_high": high,
            "n": metric.n,
            "rank_best": best,
            "rank_worst": worst,
            "comparisons": comparisons,
        }
