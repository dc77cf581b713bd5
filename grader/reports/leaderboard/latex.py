r"""A leaderboard as LaTeX tables, for papers: `\input` the file; it needs `\usepackage{booktabs}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.predictions.record import counted
from grader.reports.leaderboard import texts
from grader.reports.text import clean
from grader.results import READINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.leaderboard import Board, Leaderboard, Ranking

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "·": r"\textperiodcentered{}",
    "-": "{-}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "*": r"\textasteriskcentered{}",
    '"': r"\textquotedbl{}",
}
_ANY = re.compile("|".join(map(re.escape, _SPECIAL)))
_HEAD = [r"% Made by grade. Needs \usepackage{booktabs}.", ""]


def make(made: Leaderboard) -> bytes:
    """Return the file."""
    lines = list(_HEAD)
    if len(made.boards) > 1:
        lines += _overview(made)
    for board in made.boards:
        lines += _board(board, made)
    return ("\n".join(lines).rstrip() + "\n").encode("utf-8", errors="replace")


def escaped(text: str) -> str:
    """Escape untrusted text for LaTeX, so that it shows as text and contains no command."""
    return _ANY.sub(lambda found: _SPECIAL[found[0]], clean(text))


def _plain(text: str) -> str:
    """Escape text that the grader wrote; its quotes and hyphens stay as they are."""
    return text.replace("%", r"\%").replace("–", "--")


def _table(columns: str, heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        r"\end{table}",
        "",
    ]


def _value(ranking: Ranking | None, at: int | None) -> str:
    if ranking is None or at is None:
        return "--"
    letters = ranking.letters[at]
    value = _plain(texts.value(ranking.values[at])).replace("*", r"\textasteriskcentered{}")
    return rf"{value}\textsuperscript{{{letters}}}" if letters else value


def _overview(made: Leaderboard) -> list[str]:
    heads = ["Model", *(f"{escaped(board.title)}, {reading}" for board in made.boards for reading in READINGS)]
    rows = []
    for model in made.models():
        places = [b.place(model) for b in made.boards]
        cells = [
            _value(board.ranking(board.metric, reading), at)
            for board, at in zip(made.boards, places, strict=True)
            for reading in READINGS
        ]
        rows.append([escaped(model), *cells])
    return _table("l" + "r" * (len(heads) - 1), heads, rows, "Models by benchmarks, in percent.")


def _board(board: Board, made: Leaderboard) -> list[str]:
    readings = [board.ranking(board.metric, reading) for reading in READINGS]
    order = board.ranking(board.metric, made.reading)
    heads = ["Rank", "Model", "Official", "Careful", r"95\,\% interval"]
    rows = []
    for at, run in enumerate(board.runs):
        ranks = _plain(texts.rank(order.ranks[at])) if order else "--"
        interval = _plain(texts.interval(order.values[at])).replace(" to ", "--") if order else ""
        rows.append([ranks, escaped(run.short), *(_value(one, at) for one in readings), interval])
    said = f"{_plain(texts.method(made, order))} {' '.join(escaped(note) for note in texts.notes(board))}".strip()
    which = f"Interval and rank: {made.reading} reading."
    caption = f"{escaped(texts.heading(board))}: {escaped(board.metric)} in percent. {which} {said}"
    return [*_table("ll" + "r" * (len(heads) - 2), heads, rows, caption), *_categories(board, made)]


def _categories(board: Board, made: Leaderboard) -> list[str]:
    """Return one table per field; if a field has more categories than runs, the categories are the rows."""
    lines = []
    names = [escaped(run.short) for run in board.runs]
    for field, groups in texts.fields(board).items():
        labels = [escaped(texts.label(group)) for group in groups]
        rankings = [board.ranking(board.metric, made.reading, group) for group in groups]
        cells = [[_value(ranking, at) for ranking in rankings] for at in range(len(names))]
        number = next((one.comparisons for one in rankings if one), 0)
        caption = f"{escaped(board.title)}: {escaped(board.metric)} by {escaped(field)}, {made.reading} reading. "
        caption += f"Letters: corrected for {counted(number, 'comparison')}."
        heads, left = (labels, names) if len(labels) <= len(names) else (names, labels)
        body = cells if left is names else [list(column) for column in zip(*cells, strict=True)]
        rows = [[name, *row] for name, row in zip(left, body, strict=True)]
        lines += _table("l" + "r" * len(heads), ["", *heads], rows, caption)
    return lines
