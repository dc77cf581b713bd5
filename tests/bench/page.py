"""Measures a page in Chromium: how long it takes to open, to list, to search and to show an item.

`python tests/bench/page.py FILE`: FILE is a page, or outputs of MMLU-Pro, which are graded and made into one first.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from tests.conftest import chromium

WORD = "photosynthesis"
"""What is searched for: few questions have it, some outputs more."""
_COUNT = "() => document.querySelector('#count')?.textContent ?? ''"
_WHOLE = f"({_COUNT})() && !({_COUNT})().includes('unpacking')"


def _made(file: Path, folder: Path) -> Path:
    """Return the page of a file of outputs."""
    page = folder / "page.html"
    copied = folder / "outputs.json"
    copied.write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "grader", str(copied), "-b", "mmlu-pro", "-q", "-o", str(page)]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    print(f"graded, and the page made: {time.perf_counter() - begin:.1f} s")
    return page


def _until(page: Page, condition: str) -> float:
    """Return the seconds until a condition holds. The page's policy forbids playwright's own way."""
    begin = time.perf_counter()
    while not page.evaluate(condition):
        page.wait_for_timeout(5)
    return time.perf_counter() - begin


def _open(page: Page, file: Path, view: str, number: int) -> float:
    begin = time.perf_counter()
    page.goto(f"{file.as_uri()}?{number}#{view}")
    _until(page, "document.querySelector('#panel').dataset.ready !== undefined")
    return time.perf_counter() - begin


def _typed(page: Page, done: str) -> float:
    """Return the seconds from typing a word until its results are there."""
    before = page.evaluate(_COUNT)
    begin = time.perf_counter()
    page.fill("#search", WORD)
    _until(page, f"({_COUNT})() !== {before!r} && {done}")
    return time.perf_counter() - begin


def _measured(page: Page, file: Path, number: int) -> dict[str, float]:
    times = {"opens": _open(page, file, "tab=summary", number)}
    times["lists"] = _open(page, file, "tab=items", number + 1000)
    times["searches"] = _typed(page, "true")
    _open(page, file, "tab=items&deep=1", number + 2000)
    times["searches outputs"] = _typed(page, _WHOLE)
    link = page.locator("a.open").first
    begin = time.perf_counter()
    link.click()
    _until(page, "document.querySelector('#item') !== null")
    return {**times, "shows an item": time.perf_counter() - begin}


def measure(file: Path, rounds: int) -> None:
    """Print the median seconds of each step."""
    print(f"{file.stat().st_size / 1e6:.1f} MB")
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        found = [_measured(page, file, number) for number in range(rounds)]
        browser.close()
    for name in found[0]:
        print(f"{name}: {statistics.median(one[name] for one in found):.2f} s")


def main() -> None:
    """Measure one page."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("file", type=Path)
    reader.add_argument("--rounds", type=int, default=5)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = given.file if given.file.suffix == ".html" else _made(given.file, Path(folder))
        measure(page, given.rounds)


if __name__ == "__main__":
    main()
