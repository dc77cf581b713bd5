"""CSV for spreadsheets and data frames: the records of a document.

The file follows RFC 4180: commas, CRLF, quotes if needed; UTF-8 without a byte order mark; always a header. Lone
surrogates and NUL become U+FFFD, because many CSV readers refuse them.

A spreadsheet must not execute model outputs as formulas when it opens the file (OWASP, "CSV injection").
`guard_formula` puts an apostrophe before a text that could be a formula.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.reports.document import Document

# In some languages and settings, a spreadsheet also starts a new cell after `;`, a tab or a line break. Blanks and
# apostrophes before a sign are skipped. The signs are those of OWASP and their full-width forms, which East Asian
# versions treat as equal.
_SIGN = r"[^\S\t\r\n]*(?:'[^\S\t\r\n]*)*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA_START = re.compile(rf"^(?='*[\t\r\n])|(^|[;\t\r\n])(?={_SIGN})")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def make(document: Document) -> bytes:
    """Return the document's records, with the columns of all of them. No text is a formula, no number is rounded."""
    records = list(document.records())
    columns = list(dict.fromkeys(name for record in records for name in record)) or document.columns
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(record.get(name)) for name in columns] for record in records)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return guard_formula(value) if isinstance(value, str) else value


def guard_formula(text: str) -> str:
    """Return a cell that no spreadsheet treats as a formula."""
    return _FORMULA_START.sub(r"\g<1>'", _UNWRITABLE.sub("\ufffd", text))
