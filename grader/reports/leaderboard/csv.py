"""A leaderboard as CSV: one row per benchmark, run, metric, group and reading."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from grader.reports.csv import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.decisions.leaderboard import Board, Leaderboard, Ranking

COLUMNS = [
    *("benchmark", "split", "protocol", "model", "results", "metric", "reading", "group"),
    *("value", "ci95_low", "ci95_high", "n", "rank_best", "rank_worst", "letters", "comparisons"),
]


def make(made: Leaderboard) -> bytes:
    """Return the file; values are unrounded."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for board in made.boards:
        for ranking in board.rankings:
            writer.writerows(_rows(board, ranking))
    return text.getvalue().encode()


def _rows(board: Board, ranking: Ranking) -> Iterator[list[object]]:
    what = [guarded(text) for text in (board.benchmark, board.split, board.protocol)]
    for run, metric, ranks, letters in zip(board.runs, ranking.values, ranking.ranks, ranking.letters, strict=True):
        if metric is None:
            continue
        low, high = metric.ci95 or ("", "")
        best, worst = ranks or ("", "")
        yield [
            *what,
            guarded(run.short),
            guarded(run.results),
            guarded(ranking.metric),
            ranking.reading,
            guarded(ranking.group or ""),
            "" if metric.value is None else repr(metric.value),
            low,
            high,
            metric.n,
            best,
            worst,
            letters,
            ranking.comparisons,
        ]
