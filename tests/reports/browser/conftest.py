"""Reports in a real browser: made once by real runs of the command, opened from disk as a reader opens them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from grader.reports.material import Material, files_of_results
from grader.results import Report
from grader.scorers.report_check import read_report
from tests.conftest import Once, chromium
from tests.reports.browser.made import execution
from tests.reports.shown import as_page

FLAGS = [
    # Without its own sandbox, which does not start as root; what it opens is ours.
    "--no-sandbox",
    # A process for every site and a second drawing process are a fifth of the CPU time.
    *("--disable-site-isolation-trials", "--disable-features=IsolateOrigins,ProactivelySwapBrowsingInstance"),
    *("--disable-gpu", "--disable-software-rasterizer"),
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield opened
        opened.close()


def settled(page: Page, condition: str) -> None:
    """Wait until a condition holds. (playwright's own way evaluates a string in the page, which its policy forbids.)"""
    end = time.monotonic() + 60
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never came true: {condition}"
        page.wait_for_timeout(15)


OF_COLOURS = ("color-contrast", "link-in-text-block")
"""axe's rules about colours."""


def violations(page: Page, theme: str) -> list[str]:
    """Return what axe finds on a page: in the light theme by all of its rules, in the dark one by those about colours.

    The document is the same in both themes.
    """
    from axe_playwright_python.sync_playwright import Axe

    only = {"runOnly": {"type": "rule", "values": OF_COLOURS}} if theme == "dark" else {}
    answer = Axe().run(page, options={"resultTypes": ["violations"], **only}).response
    assert len(answer["passes"]) > (0 if only else 15)
    return [f"{theme} {page.url}: {rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in answer["violations"]]


class Watched:
    """A page, and everything it did that a report must never do."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.path, self._opened = page, path, 0
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.complaints: list[str] = []
        self._listeners: dict[Any, Callable[..., object]] = {
            "request": lambda request: self.requests.append(request.url),
            "dialog": lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()),
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def open(self, view: str = "") -> Page:
        """Open the file anew at a view, as from a link."""
        # With another query it is another document: else only the view would change.
        self._opened += 1
        self.page.goto(f"{self.path.as_uri()}?{self._opened}#{view}")
        self.page.wait_for_selector("#panel[data-ready], main:not(:has(#panel))")
        return self.page

    def check(self) -> None:
        """Assert that it asked for nothing but its own file and images, and that nothing complained."""
        own = self.path.as_uri()
        strange = [
            url
            for url in self.requests
            if url.split("?")[0].split("#")[0] != own and not url.startswith("data:image/webp")
        ]
        assert strange == []
        assert self.dialogs == []
        assert self.complaints == []

    def leave(self) -> Page:
        """Reset the page, so that the next test can use it like a new one: no document, nothing stored."""
        assert self.page.context.pages == [self.page]
        self.page.evaluate("[localStorage, sessionStorage].forEach((storage) => storage.clear())")
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.page.emulate_media(media="null", color_scheme="null")
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        return self.page


@pytest.fixture(scope="session")
def idle() -> list[Page]:
    """Pages that no test uses now. To create a page takes as long as to open a report."""
    return []


@pytest.fixture
def watch(browser: Browser, idle: list[Page]) -> Iterator[Callable[..., Watched]]:
    """Open a file in a new or a reset page; everything it did is checked when the test ends."""
    seen: list[tuple[Watched, bool]] = []

    def make(path: Path, **settings: Any) -> Watched:
        if idle and not settings:
            page = idle.pop()
        else:
            context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | settings))
            context.set_default_timeout(60_000)
            page = context.new_page()
        watched = Watched(page, path)
        seen.append((watched, not settings))
        return watched

    yield make
    for watched, is_usual in seen:
        watched.check()
        if is_usual and watched.page.url != "about:blank":
            idle.append(watched.leave())
        else:
            watched.page.context.close()


@pytest.fixture
def show(watch: Callable[..., Watched], tmp_path: Path) -> Callable[..., Watched]:
    """Open the page of a report made by hand."""

    def opened(report: Report, shown: Material, **settings: Any) -> Watched:
        path = tmp_path / "report.html"
        path.write_bytes(as_page(report, shown))
        return watch(path, **settings)

    return opened


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-made execution report."""
    return execution(tmp_path_factory.mktemp("made") / "report.html")


@pytest.fixture(scope="session")
def graded_page(graded: Callable[[str], tuple[Path, Path]], once: Once) -> Callable[[str], tuple[Path, Report]]:
    """Make the HTML report of a bundled sample that the command has graded, once per test run."""

    def run(benchmark: str) -> tuple[Path, Report]:
        results = graded(benchmark)[0] / "predictions_results.json"
        report = read_report(results)

        def fill(folder: Path) -> None:
            gathered = files_of_results(results, report, data=graded(benchmark)[1]).material()
            (folder / "report.html").write_bytes(as_page(report, gathered))

        return once(f"page-{benchmark}", fill) / "report.html", report

    return run
