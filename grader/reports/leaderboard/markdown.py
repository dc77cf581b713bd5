"""A leaderboard in GitHub's Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.predictions.record import counted
from grader.reports.leaderboard import texts
from grader.reports.markdown_text import code, prose
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.leaderboard import Board, Leaderboard, Ranking


def make(made: Leaderboard) -> bytes:
    """Return the file."""
    lines = ["## grade: leaderboard", ""]
    if len(made.boards) > 1:
        lines += _overview(made)
    for board in made.boards:
        lines += _board(board, made)
    return ("\n".join(lines).rstrip() + "\n").encode()


def _table(heads: Sequence[str], left: int, rows: Sequence[Sequence[str]]) -> list[str]:
    marks = [":--" if at < left else "--:" for at in range(len(heads))]
    return [*(f"| {' | '.join(row)} |" for row in (heads, marks, *rows)), ""]


def _value(ranking: Ranking | None, at: int | None) -> str:
    if ranking is None or at is None:
        return texts.NOTHING
    letters = ranking.letters[at]
    # Two stars would mark emphasis.
    value = texts.value(ranking.values[at]).replace("*", "\\*")
    return f"{value} <sup>{letters}</sup>" if letters else value


def _overview(made: Leaderboard) -> list[str]:
    heads = ["model", *(f"{code(board.title)} {reading}" for board in made.boards for reading in READINGS)]
    rows = [
        [
            str(code(model)),
            *(
                _value(board.ranking(board.metric, reading), board.place(model))
                for board in made.boards
                for reading in READINGS
            ),
        ]
        for model in made.models()
    ]
    return _table(heads, 1, rows)


def _board(board: Board, made: Leaderboard) -> list[str]:
    readings = [board.ranking(board.metric, reading) for reading in READINGS]
    order = board.ranking(board.metric, made.reading)
    others = [board.ranking(name, made.reading) for name in board.metrics[1:]]
    named = [str(code(f"{name} ({made.reading})")) for name in board.metrics[1:]]
    heads = ["rank", "model", "official", "careful", f"95 % interval ({made.reading})", "n", *named]
    rows = []
    for at, run in enumerate(board.runs):
        shown = order.values[at] if order else None
        number = "" if shown is None else str(shown.n)
        ranks = texts.rank(order.ranks[at]) if order else texts.NOTHING
        values = [_value(one, at) for one in readings]
        rest = [_value(one, at) for one in others]
        rows.append([ranks, str(code(run.short)), *values, texts.interval(shown), number, *rest])
    method = texts.method(made, order)
    return [
        f"### {code(texts.heading(board))}: {code(board.metric)}",
        "",
        *_table(heads, 2, rows),
        *([str(prose(method)), ""] if method else []),
        *(f"- {prose(note)}" for note in texts.notes(board)),
        *([""] if texts.notes(board) else []),
        *_categories(board, made),
    ]


def _categories(board: Board, made: Leaderboard) -> list[str]:
    """Return one table per field, with the categories as rows."""
    lines = []
    for field, groups in texts.fields(board).items():
        rankings = [board.ranking(board.metric, made.reading, group) for group in groups]
        heads = [str(code(field)), *(str(code(run.short)) for run in board.runs)]
        rows = [
            [str(code(texts.label(group))), *(_value(ranking, at) for at in range(len(board.runs)))]
            for group, ranking in zip(groups, rankings, strict=True)
        ]
        number = next((one.comparisons for one in rankings if one), 0)
        lines += [f"By {code(field)} ({made.reading}; letters corrected for {counted(number, 'comparison')}):", ""]
        lines += _table(heads, 1, rows)
    return lines
