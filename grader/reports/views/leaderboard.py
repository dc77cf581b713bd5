"""The document of a leaderboard: models by benchmarks, then each benchmark's runs, ranked."""

from __future__ import annotations

from collections import Counter
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
    interval_text,
    official_note_lines,
    page_of,
    value_text,
)
from grader.reports.views.metrics import change_cell
from grader.reports.why import metrics_lead
from grader.results import READINGS, observation_counts
from grader.wording import counted, decimal

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
        lead=metrics_lead(board.benchmark for board in leaderboard.boards),
        sections=[*overview, *(_board_section(board, leaderboard, folder) for board in leaderboard.boards)],
        records=lambda: (row for board in leaderboard.boards for row in _records(board)),
        data=lambda: leaderboard,
    )


def _board_section(board: Board, leaderboard: Leaderboard, folder: Path | None) -> Section:
    """Return the runs of one board. Its judge is in the title only if boards of this benchmark differ in it."""
    part = f" · a part: {board.part.n} of {board.part.of}" if board.part is not None else ""
    judge = f" · {board.judge}" if board.judge in _distinguishing_facts(board, leaderboard.boards) else ""
    return Section(
        title=f"{board.title} · {board.split} · {board.protocol}{part}{judge}: {board.metric}",
        parts=[
            _runs_table(board, leaderboard.reading, folder),
            *_method(leaderboard, board),
            *board.notes,
            *_legend(board),
        ],
    )


def _overview(leaderboard: Leaderboard) -> Table:
    rows = []
    for model in leaderboard.models():
        rows.append([Cell(text=model)])
        for board in leaderboard.boards:
            rows[-1] += [_cell(board, reading, board.index_of(model)) for reading in READINGS]
    columns = [Column(name=f"{name}, {reading}") for name in _board_names(leaderboard.boards) for reading in READINGS]
    return Table(title="Models by benchmarks", columns=[_MODEL, *columns], rows=rows)


def _board_names(boards: Sequence[Board]) -> list[str]:
    """Return the title and the metric of each board, and a fact or a number that tells it from boards of this title."""
    names: list[str] = []
    counts: Counter[str] = Counter()
    for board in boards:
        name = ", ".join([f"{board.title} {board.metric}", *_distinguishing_facts(board, boards)])
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name}, table {counts[name]}")
    return names


def _distinguishing_facts(board: Board, boards: Sequence[Board]) -> list[str]:
    """Return the facts that not all boards of the same title have."""
    facts_of_boards = [_facts(other) for other in boards if other.title == board.title]
    return [fact for fact in _facts(board) if any(fact not in facts for facts in facts_of_boards)]


def _facts(board: Board) -> list[str]:
    part = f"{board.part.n} of {board.part.of}" if board.part is not None else "all items"
    return [board.split, board.protocol, part, board.judge]


def _runs_table(board: Board, ranked_by: ReadingName, folder: Path | None) -> Table:
    """Return the runs and the published models, by their value in one reading."""
    columns = [
        Column(name="rank", kind="word", title="The best and the worst rank that the tests allow"),
        _MODEL,
        Column(name="", kind="plot", media=PAGES),
        *(Column(name=reading) for reading in READINGS),
        Column(name=f"95 % interval ({ranked_by})", media=TEXTS),
        Column(
            name="careful \N{MINUS SIGN} official",
            media=PAGES,
            title="In points; – if one of the two values excludes unscored samples",
        ),
        Column(name="n", title="Number of items (official and careful, if they differ)"),
    ]
    values = board.rankings[ranked_by].values
    rows = [(_sort_value(value), _run_row(board, ranked_by, index, folder)) for index, value in enumerate(values)]
    rows += [(model.value, _published_row(model)) for model in board.published]
    rows.sort(key=lambda row: row[0], reverse=True)
    return Table(title="Runs", columns=columns, rows=[row for _, row in rows])


def _sort_value(metric: Metric | None) -> float:
    """Return the value that orders a run; a run without a value is last."""
    return -1.0 if metric is None or metric.value is None else metric.value


def _run_row(board: Board, ranked_by: ReadingName, index: int, folder: Path | None) -> list[Cell]:
    """Return the row of one run. Its name links its report, seen from `folder`, where the page is (None: no page)."""
    run = board.runs[index]
    metrics = {reading: board.rankings[reading].values[index] for reading in READINGS}
    return [
        Cell(text=_rank_text(board.rankings[ranked_by].ranks[index])),
        Cell(text=run.short, title=run.results, link=page_of(run.results, folder)),
        Cell(metrics=metrics),
        *(_cell(board, reading, index) for reading in READINGS),
        Cell(text=interval_text(metrics[ranked_by])),
        change_cell(*metrics.values()),
        Cell(text=observation_counts(*metrics.values())),
    ]


def _published_row(model: PublishedModel) -> list[Cell]:
    """Return the row of a published model; it has nothing in the columns of rank, careful, interval, change and n."""
    nothing = Cell(text=NOTHING)
    return [
        nothing,
        Cell(text=f"{model.model}, {model.mode}", title="published"),
        Cell(),
        Cell(text=decimal(model.value)),
        *([nothing] * 4),
    ]


def _rank_text(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return NOTHING
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _cell(board: Board, reading: ReadingName, index: int | None) -> Cell:
    """Return the value of a run, by its index; None: the model has no run on this board."""
    if index is None:
        return Cell(text=NOTHING)
    metric = board.rankings[reading].values[index]
    return Cell(text=value_text(metric, board.runs[index].official_notes), below=interval_text(metric))


def _method(leaderboard: Leaderboard, board: Board) -> list[str]:
    """Return how the runs were compared and ranked."""
    ranking, sentences = board.rankings[leaderboard.reading], []
    if ranking.comparisons:
        names = [name for name in ranking.tests if name != "no difference to test"]
        sentences.append(
            f"Every pair of runs is compared with a paired test by item ({' or '.join(names) or 'no item differs'}). "
            f"P values are corrected for {counted(ranking.comparisons, 'comparison')} ({leaderboard.correction}, level "
            f"{100 * leaderboard.level:g} %). The rank is the best and the worst rank that these tests allow."
        )
    if board.published:
        sentences.append(
            "Published values have no interval: the rank of a run counts those above its own 95 % interval as ahead, "
            "and those below it as behind."
        )
    return sentences


def _legend(board: Board) -> list[str]:
    """Return what the signs beside values mean."""
    lines = official_note_lines([(run.short, run.official_notes) for run in board.runs])
    metrics = [metric for ranking in board.rankings.values() for metric in ranking.values if metric is not None]
    if any(metric.is_partial and metric.value is not None for metric in metrics):
        lines.insert(0, "* Unscored samples are excluded. n is that of official and of careful if they differ.")
    return lines


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
