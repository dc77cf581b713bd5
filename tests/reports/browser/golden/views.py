"""What a user sees of a graded sample, as text: the terminal at three widths, Markdown, and every view of the page.

Intervals, times, versions and this machine's sandbox are masked, so that the text is the same on every machine.
"""

import contextlib
import difflib
import json
import os
import pty
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.acceptance.command import Started, grade
from tests.reports.browser.conftest import Watched, settled

WIDTHS = (1280, 390)
"""Of the page, in pixels."""
_NUMBER = r"[-\u2212]?\d+\.\d"
_INTERVAL = re.compile(rf" *(?:{_NUMBER}\s+to|[Bb]etween\s+{_NUMBER}\s+and)\s+{_NUMBER}")
_MASKS = (
    (re.compile(r"\d+\.\d+\s+s\b"), "… s"),
    (re.compile(r"(\| )\d+\.\d\d$", re.MULTILINE), r"\1…"),  # the last column of the items: CPU seconds
    (re.compile(r"(?:#* ?Notes\s+)?-? ?† Programs ran on Python .*"), ""),
    (re.compile(r"(?<=official) †|(?<=\d)†"), ""),
    (re.compile(r"\bgrade \d[\w.+]*"), "grade …"),
    (re.compile(r"^sandbox verdicts from cache$\n?", re.MULTILINE), ""),  # only if the cache has some
)
_ERASED = re.compile(r"[^\n]*\x1b\[2K")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PROGRESS = re.compile(r"^[a-z ]+: \d+/\d+.*$")
TEXT = """(isAbout) => {
  // A line per row of a table, and per line of anything else that is visible.
  const line = (node) => node.innerText.replace(/\\s+/g, ' ').trim();
  const text = (node) => {
    if (!node.checkVisibility() || node.matches('select, svg, .unseen')) return [];
    if (node.tagName === 'IMG') return [`[${node.alt}]`];
    if (node.tagName === 'TABLE') return [...node.rows].map((row) => [...row.cells].map(line).join(' | '));
    if (node.querySelector('table, select, details, img')) return [...node.children].flatMap(text);
    return node.innerText.split('\\n').map((part) => part.replace(/\\s+/g, ' ').trim());
  };
  // The values of the last tab are this machine's.
  const names = () => [...document.querySelectorAll('#panel h2, #panel dt')].map(line);
  return (isAbout ? names() : text(document.querySelector('#panel, main:not(:has(#panel))'))).filter((part) => part);
}"""
LAYOUT = """() => {
  const edge = document.documentElement.clientWidth, found = [];
  const say = (what, node) => found.push(`${what}: ${node.tagName.toLowerCase()}.${[...node.classList].join('.')}`
    + ` ${(node.innerText ?? '').trim().replace(/\\s+/g, ' ').slice(0, 40)}`.trimEnd());
  const scrolls = (node) => ['auto', 'scroll'].includes(getComputedStyle(node).overflowX);
  const inScroller = (node) => node && (scrolls(node) || inScroller(node.parentElement));
  for (const node of document.querySelectorAll('body *')) {
    if (!node.checkVisibility() || node.closest('.unseen, svg')) continue;
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    const isWider = node.clientWidth && node.scrollWidth > node.clientWidth + 1;
    if (box.right > edge + 1 && !inScroller(node.parentElement)) say('beyond the edge', node);
    if (isWider && ['hidden', 'clip'].includes(style.overflowX) && style.textOverflow !== 'ellipsis') say('cut', node);
    if (isWider && scrolls(node) && node.tagName !== 'PRE') say('scrolls', node);
    if (node.tagName === 'IMG' && !(node.complete && node.naturalWidth)) say('no image', node);
    const heading = node.tagName === 'SECTION' && node.querySelector('h2, h3');
    if (heading && node.innerText.trim() === heading.innerText.trim()) say('empty', node);
  }
  return found;
}"""


def masked(text: str) -> str:
    """Return a text without what differs from machine to machine, or from day to day."""
    text = _INTERVAL.sub(lambda found: "…".rjust(len(found[0])), text)  # right-aligned, as it is in a table
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    kept = [line.rstrip() for line in text.splitlines() if not _PROGRESS.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def compact(text: str) -> str:
    """Return a masked text without the blanks that only align it."""
    return re.sub(r" {2,}", " ", masked(text))


def terminal(folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, *, every_width: bool) -> Iterator[str]:
    """Yield what a run says when it is piped, and the lines that are others on terminals of 80 and 120 columns."""
    widths = (100, 80, 120) if every_width else (100,)
    shown = {width: masked(_said(folder, words, width, monkeypatch)) for width in widths}
    yield _section("terminal, piped", shown[100])
    if not every_width:
        return
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    there = masked(_on_a_terminal(folder, words))
    assert there.split() == shown[80].split(), f"a terminal shows something else than a pipe:\n{there}"
    beyond = [line for line in there.splitlines() if len(line) > 80 and "`" not in line]
    assert not beyond, f"beyond the edge of the terminal: {beyond}"
    for width in (80, 120):
        assert all(len(line) <= width for line in _table_lines(shown[width]))
        yield _section(f"terminal, {width} columns: other lines", _other_lines(shown[100], shown[width]))


def _said(folder: Path, words: list[str], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    done = grade(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def _on_a_terminal(folder: Path, words: list[str]) -> str:
    """Return what stays on a terminal, without colours; its progress bars are erased."""
    read, write = pty.openpty()
    terminal = Path(os.ttyname(write))
    run = Started(*words, cwd=folder, streams={"stdout": terminal, "stderr": terminal})
    data = b""
    with ThreadPoolExecutor(1) as waiting, contextlib.suppress(OSError):  # in the end there is nobody to read from
        done = waiting.submit(run.wait)
        done.add_done_callback(lambda _: os.close(write))
        while more := os.read(read, 65536):
            data += more
    os.close(read)
    assert done.result().returncode == 0, data
    return _CONTROL.sub("", _ERASED.sub("", data.decode().replace("\r", "")))


def _table_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if "───" in line]


def _other_lines(first: str, second: str) -> str:
    found = difflib.ndiff(first.splitlines(), second.splitlines())
    return "\n".join(line[2:] for line in found if line.startswith("+ "))


def page(watched: Callable[..., Watched], path: Path, views: Iterable[str]) -> Iterator[str]:
    """Yield the visible text of each view on a wide screen, what a narrow one shows otherwise, and both layouts."""
    shown: dict[int, dict[str, str]] = {width: {} for width in WIDTHS}
    for width in WIDTHS:
        own = watched(path, viewport={"width": width, "height": 900})
        for view in views:
            shown[width][view] = _text(own.open(view), view)
    for view in views:
        yield _section(f"page, {WIDTHS[0]} pixels: {view}", shown[WIDTHS[0]][view])
    for view in views:
        yield _section(
            f"page, {WIDTHS[1]} pixels: {view}: other lines", _other_lines(*(shown[w][view] for w in WIDTHS))
        )


def _text(opened: Page, view: str) -> str:
    settled(opened, "[...document.images].every((image) => image.complete)")
    lines = opened.evaluate(TEXT, view == "tab=about")
    return compact("\n".join([*lines, *(f"LAYOUT {problem}" for problem in opened.evaluate(LAYOUT))]))


def without_this_sandbox(results: Path) -> None:
    """Write a results file as if its programs had run on the official Python: no mark, on any machine."""
    report = json.loads(results.read_text())
    sandbox = report["provenance"].get("sandbox")
    if sandbox is not None:
        sandbox["python"] = sandbox.get("official_python") or "3.12"
        report["notes"] = [note for note in report["notes"] if note["kind"] != "official"]
        results.write_text(json.dumps(report))


def _section(title: str, text: str) -> str:
    return f"=== {title}\n{text}\n" if text else f"=== {title}\n(none)\n"
