r"""A document as LaTeX tables, for papers: `\input` the file; it needs `\usepackage{booktabs}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.reports.document import Table
from grader.reports.text import clean

if TYPE_CHECKING:
    from grader.reports.document import Cell, Column, Document

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
    "[": "{[}",
    "]": "{]}",
    '"': r"\symbol{34}",
}
_MINUS = re.compile(r"(?<![\w-])[-\u2212](?=\d)")
_ANY = re.compile("|".join(map(re.escape, _SPECIAL)))


def of_runs(document: Document) -> bytes:
    """Return the file. The sentences of a section are in the caption of its first table."""
    lines = [r"% Made by grade. Needs \usepackage{booktabs}.", ""]
    for section in document.sections:
        parts = section.texts()
        sentences = [escaped(part) for part in parts if isinstance(part, str)]
        tables = [part for part in parts if isinstance(part, Table) and not part.is_list]
        for number, table in enumerate(tables):
            title = escaped(section.title or document.title) + (f", {escaped(table.title)}" if number else "")
            more = [*([] if number else sentences), escaped(table.note)]
            lines += _table(table, ". ".join(part.rstrip(". ") for part in (title, *filter(None, more))) + ".")
    return ("\n".join(lines).rstrip() + "\n").encode("utf-8", errors="replace")


def escaped(text: str) -> str:
    r"""Escape untrusted text for LaTeX, so that it shows as text and contains no command.

    A cell that begins with a bracket would be an option of the `\\` or `\midrule` before it.
    """
    return _ANY.sub(lambda found: _SPECIAL[found[0]], clean(text))


def _plain(text: str) -> str:
    """Escape text that the grader wrote; its quotes stay as they are, and a hyphen before a number is a minus."""
    return _MINUS.sub("$-$", text.replace("%", r"\%").replace("–", "--"))


def _table(table: Table, caption: str) -> list[str]:
    kinds = "".join("r" if column.kind == "number" else "l" for column in table.columns)
    return [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        " & ".join(escaped(column.name) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(_cell, row, table.columns)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        r"\end{table}",
        "",
    ]


def _cell(cell: Cell, column: Column) -> str:
    if column.kind == "name":
        return escaped(cell.text)
    text = _plain(cell.text).replace("*", r"\textasteriskcentered{}").replace("<", r"\textless{}")
    shown = rf"\textbf{{{text}}}" if cell.tone == "strong" and text else text
    return rf"{shown}\textsuperscript{{{cell.letters}}}" if cell.letters else shown
