"""What models, data and results files may contain to attack whoever reads a report of them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Page

from grader.reports.material import Material
from grader.reports.questions import Gap
from grader.results import Facts, Metric, Note, Outcome, Provenance, Reading, Report, SampleResult, SandboxProvenance
from grader.scorers.choice import facts as choice
from grader.scorers.execution import facts as execution
from grader.scorers.interface import ExecutedProgram
from grader.scorers.mr_ben import facts as mr_ben
from grader.task import Block, Task
from tests.reports.browser.conftest import Watched, settled
from tests.reports.shown import as_page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

HOSTILE = {
    "script": "<script>window.pwned = 1; alert(1)</script>",
    "end of script": "</script><script>window.pwned = 2; alert(2)</script>",
    "end of title": "</title></style></textarea><img src=x onerror='window.pwned=3'>",
    "comment": "<!--<script>",
    "open comment": "--!><svg/onload=window.pwned=4>",
    "link": "javascript:window.pwned=5",
    "markup link": '"><a href="javascript:alert(6)" autofocus onfocus="window.pwned=6">x</a>',
    "style": "<style>*{display:none!important}</style>@import 'https://example.invalid/x.css';",
    "image": "<img src='https://example.invalid/pixel.png'><link rel=stylesheet href=//example.invalid/y.css>",
    "frame": "<iframe srcdoc='<script>parent.pwned=7</script>'></iframe><base href='https://example.invalid/'>",
    "form": "<form action='https://example.invalid/'><input name=attributes><button>go</button></form>",
    "meta": "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "template": "{{ 7 * 7 }} {% include '/etc/passwd' %} ${7*7}",
    "prototype": "__proto__",
    "constructor": "constructor",
    "id": "panel",
    "json": '"}];window.pwned=8;//',
    "line separators": "a\u2028window.pwned=9\u2029b",
}


SCORERS = [
    "execution",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("multiple_choice", "mr_score")),
]
"""One is enough for `make test`: what runs quote is drawn by the same script."""
VIEWS = ("tab=summary", "tab=differences", "tab=items", "tab=items&q=x&deep=1", "tab=about")


def _run_facts(scorer: str, texts: Sequence[str]) -> Facts | msgspec.UnsetType:
    """What the scorer keeps of a run, with these texts wherever it keeps some."""
    if scorer == "multiple_choice":
        letters = {text: choice.LetterCounts(chosen=1, right=1, accuracy=1.0) for text in texts}
        return choice.ChoiceRunFacts(position_bias=choice.PositionBias(official=letters, careful=letters))
    if scorer == "mr_score":
        counts = {text: {text: {text: 1}} for text in texts}
        return mr_ben.MrBenRunFacts(difference_kinds=dict.fromkeys(texts, 1), counts=counts)
    return msgspec.UNSET


def _sample_facts(scorer: str, text: str) -> Facts:
    if scorer == "multiple_choice":
        return choice.ChoiceFacts(gold=text)
    if scorer == "mr_score":
        said = mr_ben.ReadingFacts(correctness=text, step=True, reason=None)
        return mr_ben.MrBenFacts(gold=text, gold_step=text, official=said, careful=said, judge=text, difference=text)
    return execution.ExecutionFacts(failed_test=text, failed_line=1)


def _report(*texts: str, scorer: str = "execution") -> tuple[Report, Material]:
    """A report in which every text that comes from outside is one of these."""
    every = " ".join(texts)
    metrics = [
        Metric(name=text, reading=reading, group=group, value=1, ci95=(0.0, 2.0), n=1)
        for text in texts
        for group in (None, f"{text}={text}")
        for reading in ("official", "careful")
    ]
    report = Report(
        benchmark=every, scorer=scorer, split=every, protocol=every, metrics=metrics, model=every,
        samples=[_sample(text, scorer) for text in texts], facts=_run_facts(scorer, texts),
        unscored=1, notes=list(map(Note, texts)),
        baselines={text: {text: 1.0} for text in texts}, abbreviations={text: text for text in texts},
        provenance=Provenance(predictions=every, data=every, sandbox=SandboxProvenance(backend=every, image=every)),
    )  # fmt: skip
    material = Material(
        runs_programs=True, unit=every, tasks={text: _task(text) for text in texts},
        image_of={text: text for text in texts}, images={text: text.encode() for text in texts},
        replies={text: [text] for text in texts},
        programs={text: [ExecutedProgram(completion=text, program=text, result=text)] for text in texts},
        gaps=[Gap(kind="programs", reason=text) for text in texts],
    )  # fmt: skip
    return report, material


def _sample(text: str, scorer: str) -> SampleResult:
    official, careful = (
        Reading(outcome=outcome, credit=0, answer=text, detail=text, rule=text, span=(0, len(text)))
        for outcome in (Outcome.ERROR, Outcome.SUSPECT)
    )
    return SampleResult(
        qid=text, sample=0, seconds=1.0, official=official, careful=careful, unit=text, groups={text: [text, "other"]},
        facts=_sample_facts(scorer, text),
    )  # fmt: skip


def _task(text: str) -> Task:
    blocks = tuple(Block(kind=kind, title=text, content=text, is_open=True) for kind in ("text", "code"))
    return Task(id=text, text=text, options={text: text}, gold=text, blocks=blocks)


@pytest.mark.parametrize("scorer", SCORERS)
def test_nothing_that_a_report_quotes_can_act(show: Callable[..., Watched], scorer: str) -> None:
    watched = show(*_report(*HOSTILE.values(), scorer=scorer))
    page = watched.open()
    globals_before = page.evaluate("Object.getOwnPropertyNames(window).sort().join()")
    # What the other scorers have of their own is in the summary, at an item, and in how it was made.
    for view in VIEWS if scorer == "execution" else VIEWS[::4]:
        text = watched.open(view).locator("body").evaluate("node => node.textContent")
        for quoted in [] if "q=" in view else HOSTILE.values():
            # What stands in the page without a script has a blank in place of a line separator.
            assert (re.sub("[\u2028\u2029]", " ", quoted) if view == "tab=summary" else _shown(quoted)) in text, view
        _check_inert(page)
    watched.open("tab=items&sort=-id")
    order = page.locator("a.open").evaluate_all("nodes => nodes.map((node) => node.textContent)")
    assert sorted(order) == sorted(map(_shown, HOSTILE.values()))
    page.locator("a.open").first.click()
    # To step through all items takes a second; the verdicts of all scorers have the same shape.
    for number, name in enumerate(order if scorer == "execution" else order[:3]):
        settled(page, f"document.querySelector('.steps .faint')?.textContent === '{number + 1} of {len(order)}'")
        assert page.locator("#item").evaluate("node => node.textContent") == name
        assert page.locator(".answered pre.raw mark").first.evaluate("node => node.textContent") == name
        _check_inert(page)
        page.keyboard.press("j")
    assert page.evaluate("Object.getOwnPropertyNames(window).sort().join()") == globals_before


def _check_inert(page: Page) -> None:
    links = page.locator("a[href]").evaluate_all("nodes => nodes.map((node) => node.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    strange = "iframe, form:not(.filters), base, object, embed, [style], link, #panel script, #panel style, svg a"
    assert page.locator(strange).count() == 0
    assert page.evaluate("window.pwned ?? Object.prototype.pwned ?? null") is None


def _shown(text: str) -> str:
    return text.replace("\u2028", "U+2028").replace("\u2029", "U+2029")


def test_the_policy_stops_a_script_that_got_in_all_the_same(watch: Callable[..., Watched], tmp_path: Path) -> None:
    """Not how it is meant to be: a script and a handler are put into the file, past everything that keeps them out."""
    path = tmp_path / "report.html"
    data = as_page(*_report("x")).decode()
    path.write_text(
        data.replace("<footer", "<script>window.pwned=1</script><img src=x: onerror='window.pwned=2'><footer")
    )
    watched = watch(path)
    page = watched.open()
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned ?? null") is None
    assert len(watched.complaints) >= 2
    assert all("Content Security Policy" in complaint for complaint in watched.complaints)
    watched.complaints.clear()
    watched.requests[:] = [url for url in watched.requests if url != "x:"]


def test_the_document_takes_no_markup_even_from_its_own_script(show: Callable[..., Watched]) -> None:
    watched = show(*_report("x"))
    page = watched.open()
    said = page.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (e) { return e.name } })()"
    )
    assert said == "TypeError"
    assert len(watched.complaints) == 1
    watched.complaints.clear()


def test_characters_that_hide_or_reorder_are_shown_by_name(show: Callable[..., Watched]) -> None:
    plain = "שלום 👩‍👩‍👧 العربية 你好"
    text = "\x1b[31mred\x1b[0m a\u202eb\u2066c\0d\ud83de\u200bf\ufeffg\U000e0041h\r\ni\rj"
    page = show(_report("x")[0], Material(replies={"x": [text + plain]})).open("tab=items&item=x")
    raw = page.locator(".answered pre.raw").first
    assert raw.locator(".unseen-character").all_inner_texts() == [
        "␛", "␛", "U+202E", "U+2066", "␀", "U+D83D", "U+200B", "U+FEFF", "U+E0041", "␍",
    ]  # fmt: skip
    shown = raw.evaluate("node => node.textContent")
    assert shown.startswith("␛[31mred␛[0m aU+202EbU+2066c␀dU+D83DeU+200BfU+FEFFgU+E0041h")
    assert not any(character in shown for character in "\x1b\u202e\u2066\0\u200b\ufeff")
    assert shown.endswith(plain), "emoji and text from right to left are left as they are"


def test_a_hostile_address_changes_nothing(show: Callable[..., Watched]) -> None:
    watched = show(*_report("x", "y", "z"))
    views = (
        "tab=constructor&item=__proto__", "tab=items&page=-5&sort=__proto__",
        "tab=items&item=<img src=x onerror=alert(1)>", "tab=items&group=<script>alert(1)</script>", "%",
        "tab=items&item=x&sample=NaN", "tab=differences&page=1e99&official=<b>",
    )  # fmt: skip
    for view in views:
        page = watched.open(view)
        assert page.locator("[role=tab][aria-selected=true]").count() == 1
        assert page.locator("#panel > *").count() > 0


def test_a_million_characters_in_one_line_and_a_thousand_marks_on_a_letter_are_borne(
    show: Callable[..., Watched],
) -> None:
    texts = {"x": ["a" * 1_000_000 + "o" + "\u0335" * 1000]}
    narrow = {"width": 380, "height": 700}
    page = show(_report("x")[0], Material(replies=texts), viewport=narrow).open("tab=items&item=x")
    settled(page, "document.querySelector('.answered pre.raw .cut') !== null")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
