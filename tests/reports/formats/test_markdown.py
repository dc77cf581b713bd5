"""Markdown for a pull request: what it says, what it cuts, and that what others wrote is nothing but text in it."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import metadata

import cmarkgfm
import msgspec
import pytest
from cmarkgfm.cmark import Options as CmarkOptions
from hypothesis import given
from markdown_it import MarkdownIt

from grader.reports.formats.markdown_text import code, heading, prose
from grader.reports.views import run
from grader.results import Metric, Note, Provenance, Report, SandboxProvenance
from grader.scorers import registry
from grader.wording import clean
from tests.reports import made_reports as made
from tests.reports.shown import as_markdown
from tests.tables import each

ALLOWED = {"h2", "h3", "p", "ul", "li", "strong", "em", "code", "details", "summary"} | {
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}

PARSERS: dict[str, Callable[[str], str]] = {
    # GitHub's own, and an independent one; both are told to let HTML through, so that a hole shows.
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(text, CmarkOptions.CMARK_OPT_UNSAFE),
    "markdown-it": MarkdownIt("gfm-like", {"html": True}).render,
}


class Page(HTMLParser):
    """What is on a page: its elements, and its text apart by whether it is in code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[tuple[str, str | None]] = set()
        self.plain = ""
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= set(attrs)
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data
        # A span of code separates what is before it from what is behind it.
        self.plain += "\n" if "code" in self._open else data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def shown(text: str) -> str:
    return " ".join(clean(text).split())


def check_inert(page: Page) -> None:
    assert set(page.elements) <= ALLOWED
    assert {name for name, _ in page.attributes} <= {"align", "style"}
    # What GitHub goes on to look for in text that is not code.
    for pattern in (r"@[\w-]", r"#\w", r"\b[A-Z]+-\w", r"[\w/]#\d", r":\w+:", r"\w\.[a-z]", r"//", r"\$", r"\[", r"<"):
        assert not re.search(pattern, page.plain), (pattern, page.plain)
    assert not re.search(r"\b[0-9a-fA-F]{7,}\b", page.plain)


def small_report() -> Report:
    return made.report(
        [
            made.sample("q1", made.read("correct", "B", rule="first"), made.read("wrong", "C", rule="said")),
            made.sample("q2", made.read("correct", "A"), number=1),
            made.sample("q|3", made.read("wrong", "A"), made.read("no_answer", detail="refuses: `@me`"), number=2),
            made.sample("q4", made.read("unscored")),
        ],
        metrics=[
            Metric(name="accuracy", reading="official", value=66.666, ci95=(20.0, 93.0), n=3, bounds=(50.0, 75.0)),
            Metric(name="accuracy", reading="careful", value=33.333, ci95=(6.0, 79.2), n=3, bounds=(25.0, 50.0)),
            Metric(name="accuracy", reading="official", group="kind=a_b", value=50.0, n=2),
            Metric(name="accuracy", reading="careful", group="kind=a_b", value=50.0, n=2),
            Metric(name="accuracy", reading="official", group="kind=c", value=50.0, n=2),
        ],
        unscored=1,
        provenance=Provenance(grade="1.0", sandbox=SandboxProvenance(backend="docker", image="i", workers=2)),
        baselines={"all": {"chance": 37.5}},
        abbreviations={"c": "C"},
        notes=[Note("Baselines: chance 37.5, by no_answer 40.0.")],
    )


GATES = [
    made.gate("accuracy >= 30 (careful)", "met", "33.3 is enough."),
    made.gate("accuracy >= 80 (careful)", "not met", "33.3 on 3 items, under 80."),
]


def test_gates_come_first_then_metrics_then_what_differs_then_what_to_know() -> None:
    """The golden views have whole reports; these have no gates and no odd names."""
    text = as_markdown(small_report(), GATES).decode()
    assert re.findall(r"^##+ .*|<summary>.*</summary>", text, re.MULTILINE) == [
        "## grade: vstar · test · lmms-eval-0.7.1",
        "### ❌ Gates: 1 not met, 1 met",
        "### Metrics",
        "<summary>By group (2)</summary>",
        "### Official and careful differ on 2 of 4 samples",
        "### 1 of 4 samples unscored",
        "### Notes",
        "<summary>How it was made</summary>",
    ]
    for line in (
        "| ❌ not met | `accuracy >= 80 (careful)` | 33.3 on 3 items, under 80. |\n| ✅ met | ",
        "| `accuracy` | 66.7\\* | 33.3\\* | 6.0 to 79.2 | 3 |",
        "| `accuracy` | `kind=c (C)` | 50.0 | – |  | 2 |",
        "1 correct to wrong, 1 wrong to `no_answer`",
        "| `q`&#124;`3 #2` | `wrong: A` | `no_answer` | refuses: `@me` |",
        "Why: infrastructure failed. Excluded from all metrics",
        "| `accuracy` | careful | 25.0 to 50.0 |",
        "- Baselines: chance 37.5, by `no_answer` 40.0.",
        "| `sandbox_workers` | `2` |",
    ):
        assert line in text


def test_an_advisory_gate_that_is_not_met_is_not_said_to_be_met() -> None:
    advisory = msgspec.structs.replace(made.gate("a", "not met", "r"), is_advisory=True)
    lines = as_markdown(made.report(), [made.gate("g", "met", "r"), advisory]).decode().splitlines()
    assert lines[4] == "### ✅ Every gate that decides is met"
    assert "No gate decides: all are advisory" in as_markdown(made.report(), [advisory]).decode()


@each(
    ("states", "heading"),
    [
        (["met", "met"], "✅ Every gate is met"),
        (["inconclusive"], "❔ Gates: 1 inconclusive"),
        (["met", "blocked", "not met"], "⚠️ Gates: 1 blocked, 1 not met, 1 met"),
    ],
)
def test_the_heading_says_what_became_of_the_gates(states: list[str], heading: str) -> None:
    gates = [made.gate("g", state, "r") for state in states]
    assert as_markdown(made.report(), gates).decode().splitlines()[4] == f"### {heading}"


@pytest.mark.parametrize("parser", PARSERS)
@given(text=made.any_text)
def test_any_text_is_shown_as_it_is_and_does_nothing(parser: str, text: str) -> None:
    report = made.hostile_report(text)
    page = Page(PARSERS[parser](as_markdown(report, made.hostile_gates(text)).decode()))
    check_inert(page)
    facts = run.document(report).sections[-1].parts[0].rows
    cells = 5 * 3 + 2 * 5 + 2 * 6 + 3 * (5 if text else 4) + 3 * 3 + (1 + len(facts)) * 2
    assert page.elements.count("th") + page.elements.count("td") == cells


@pytest.mark.parametrize("parser", PARSERS)
@given(text=made.any_text)
def test_a_table_cell_and_a_sentence_show_the_text_they_were_given(parser: str, text: str) -> None:
    cell = Page(PARSERS[parser](f"| a | b |\n|--|--|\n| {code(text)} | end |\n"))
    assert cell.texts["td"] == [shown(text)[:120] if len(shown(text)) <= 120 else shown(text)[:119] + "…", "end"]
    sentence = Page(PARSERS[parser](f"- {prose(f'It says {text}')}\n"))
    said, expected = (
        "".join(line.replace("`", "").split()) for line in (*sentence.texts["li"], shown(f"It says {text}"))
    )
    assert said == expected  # but for the back-ticks, which are how a sentence quotes code
    check_inert(sentence)


@each(
    ("text", "expected"),
    [
        ("file.json:3: @me says", "`file.json:3`: `@me` says"),
        ("see GH-12, #12 and deadbeef", "see `GH-12`, `#12` and `deadbeef`"),
        ("see A-B and well-known", "see `A-B` and well-known"),
        ("1. no list", "`1.` no list"),
        (
            "a change of +2.16 points (bounds -1.20 and +2.16; n = 3), = 4",
            "a change of +2.16 points (bounds -1.20 and +2.16; n = 3), = 4",
        ),
        ("Give --judge-model (and --judge-base-url), or", "Give `--judge-model` (and `--judge-base-url`), or"),
        ("not in mr_score, acc_step.", "not in `mr_score`, `acc_step`."),
        ("a ` b", "a `` ` `` b"),
        ("``x`` and `y`z", "``` ``x`` ``` and `` `y`z ``"),
        ("= no heading", "`=` no heading"),
        ("40.0 is no list", "40.0 is no list"),
        ("1,234 of 20,000; \N{MINUS SIGN}1.2 to +3.4", "1,234 of 20,000; \N{MINUS SIGN}1.2 to +3.4"),
    ],
)
def test_a_sentence_stays_readable(text: str, expected: str) -> None:
    assert prose(text) == expected


@each(
    ("text", "expected"),
    [
        ("lmms-eval-0.7.1: step_1000 to step_2000", "lmms-eval-0.7.1: step_1000 to step_2000"),
        ("MMBench · dev-en · v2: mr_score", "MMBench · dev-en · v2: mr_score"),
        ("differ on 1,234 of 2,000 samples (alike)", "differ on 1,234 of 2,000 samples (alike)"),
        ("@me GH-12 a-deadbeef1 www.a.de _x_", "`@me` `GH-12` `a-deadbeef1` `www.a.de` `_x_`"),
    ],
)
def test_a_heading_has_names_as_text_and_only_what_means_something_as_code(text: str, expected: str) -> None:
    assert heading(text) == expected


@pytest.mark.parametrize("text", ["😀" * 5_000, "` |" * 2_000], ids=["emoji", "fences"])
def test_the_largest_report_fits_a_comment_and_says_what_it_left_out(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = made.hostile_report(text)
    registry.scorer.cache_clear()
    point = metadata.EntryPoint("many_facts", "tests.reports.made_reports:ManyFacts", registry.GROUP)
    monkeypatch.setattr("grader.resources.plugins", lambda _group: {point.name: point})
    many = msgspec.structs.replace(
        report,
        scorer=point.name,
        samples=[made.sample(f"{n}{text}", made.read("correct", text), made.read("wrong", text, text, text))
                 for n in range(560)],
        metrics=[Metric(name=f"{n}{text}", reading=reading, group=group, value=1.0, n=1, bounds=(0.0, 1.0))
                 for n in range(100) for reading in ("official", "careful") for group in (None, f"f={text}")],
        notes=[Note(text)] * 100,
        provenance=Provenance(),
        baselines={},
    )  # fmt: skip
    data = as_markdown(many, made.hostile_gates(text) * 50)
    assert len(data) < 60_000
    for html in (parse(data.decode()) for parse in PARSERS.values()):
        page = Page(html)
        check_inert(page)
        said = [re.fullmatch(r"… (\d+) more are in the \.json\.", line) for line in page.texts["em"]]
        cut = [int(match[1]) for match in said if match]
        assert len(cut) == len(said) == 7
        kept = page.elements.count("tr") - 6 + page.elements.count("li")
        assert kept + sum(cut) == 200 + 100 + 100 + 560 + 200 + 100 + 100


def test_twenty_differences_are_shown_and_the_rest_counted() -> None:
    wrong = [made.sample(f"q{n}", made.read("correct"), made.read("wrong")) for n in range(25)]
    text = as_markdown(made.report(wrong)).decode()
    assert "### Official and careful differ on 25 of 25 samples\n\n25 correct to wrong.\n" in text
    assert text.endswith("| `q19` | `correct` | `wrong` |  |\n\n*… 5 more are in the .json.*\n")
