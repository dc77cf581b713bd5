import base64
import hashlib
import html as entities
import io
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import msgspec
from PIL import Image

from grader.reports.document import Plot
from grader.reports.material import Material
from grader.reports.questions import Gap
from grader.reports.web import images
from grader.reports.web.drawing import curve_drawing
from grader.results import Outcome, Reading, Report, SampleResult
from grader.scorers.choice.facts import ChoiceRunFacts, LetterCounts, PositionBias
from grader.scorers.execution.metrics import curve
from grader.scorers.interface import CurveBlock
from grader.task import Block, Task
from tests.made_runs import circular, tasks
from tests.reports.formats import big
from tests.reports.made_reports import hostile_report
from tests.reports.shown import as_page
from tests.tables import each

GOOD = Reading(outcome=Outcome.CORRECT, credit=1, answer="A", rule="bare_letter")
BAD = Reading(outcome=Outcome.WRONG, credit=0, answer="B", rule="starts_with_letter")


def _report(samples: list[SampleResult], **more: Any) -> Report:
    return Report(
        **(
            {
                "benchmark": "b",
                "scorer": "multiple_choice",
                "split": "s",
                "protocol": "p",
                "metrics": [],
                "samples": samples,
            }
            | more
        )
    )


def _sample(qid: str = "q1", official: Reading = GOOD, careful: Reading = BAD, **more: Any) -> SampleResult:
    return SampleResult(**({"qid": qid, "sample": 0, "official": official, "careful": careful} | more))


class _Page(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(data.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in {"script", "style"} and data.strip():
            self.texts.append((self.elements[-1][1].get("id") or self.elements[-1][0], data))

    def packed(self, name: str) -> Any:
        return json.loads(zlib.decompress(base64.b64decode(dict(self.texts)[name])))


def _only_sample(data: bytes) -> dict[str, Any]:
    return _Page(data).packed("pack-0")[0]["runs"][0][0]


def test_the_head_counts_a_question_with_several_passes_once_as_the_list_does() -> None:
    page = as_page(circular([[True, True], [True, False]]), Material())
    assert "<span>2 items</span><span>4 samples</span>" in page.decode()
    assert len(_Page(page).packed("data")["items"]) == 2


def test_a_benchmark_of_ones_own_has_its_name_and_no_published_scorer() -> None:
    page = as_page(_report([_sample()], benchmark="floorplans", benchmark_name="Floor plans"), Material())
    assert "<title>Floor plans · split s · protocol p · 1 task · grade</title>" in page.decode()
    assert "<h1>Floor plans</h1>" in page.decode()
    packed = _Page(page).packed("data")
    assert packed["name"] == "Floor plans"
    assert "Official is the verdict of the rules that the benchmark&#39;s protocol names;" in page.decode()
    assert packed["aboutOfficial"].endswith("This benchmark has no published scorer.")
    facts = ChoiceRunFacts(position_bias=PositionBias(careful={"A": LetterCounts(chosen=1, right=1)}))
    report = _report([_sample()], benchmark="vstar", benchmark_name="V*Bench", facts=facts)
    bundled = as_page(report, Material()).decode()
    assert "How often each letter is gold" in bundled
    assert "<h1>V*Bench</h1>" in bundled
    assert "Official is the verdict of the published scorer, bug for bug;" in bundled


def test_the_policy_lets_in_nothing_but_the_pages_own_script_and_style() -> None:
    page = _Page(as_page(_report([_sample()]), Material()))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    texts = dict(page.texts)
    hashes = {
        name: base64.b64encode(hashlib.sha256(texts[name].encode()).digest()).decode() for name in ("script", "style")
    }
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{hashes['script']}'",
        f"style-src 'sha256-{hashes['style']}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]


def test_the_page_refers_to_nothing_outside_itself() -> None:
    data = as_page(*big.made(2, 2, 200))
    page = _Page(data)
    assert {name for _, a in page.elements for name in a if name.startswith("on") or name == "style"} == set()
    led = [a.get("src") or a.get("href") or "" for _, a in page.elements if "src" in a or "href" in a]
    assert [link for link in led if not link.startswith("#")] == []
    own = re.sub(rb'<script type="text/plain".*?</script>', b"", data, flags=re.DOTALL).decode()
    assert set(re.findall(r"(?:https?:)?//[\w.]+\w", own)) <= {"http://www.w3.org"}
    assert "@import" not in own
    assert "url(" not in own


def test_the_script_builds_the_document_from_nodes_only() -> None:
    script = dict(_Page(as_page(_report([]), Material(runs_programs=True))).texts)["script"]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc",
                "DOMParser", "createContextualFragment", "fetch(", "XMLHttpRequest", "setTimeout('"):  # fmt: skip
        assert way not in script


def test_no_text_of_the_data_stands_in_the_page_but_packed_or_escaped() -> None:
    word = "<b>zanzibar</b>"
    blocks = (Block(kind="text", title=word, content=word),)
    material = Material(
        tasks={word: Task(id=word, text=word, options={word: word}, gold=word, blocks=blocks)},
        replies={word: [word]},
        gaps=[Gap(kind="images", reason=word)],
    )
    data = as_page(msgspec.structs.replace(hostile_report(word), model=word), material).decode()
    assert word not in data
    assert entities.escape(word) in data


def test_the_same_report_makes_the_same_bytes() -> None:
    report, material = big.made(3, 2, 200)
    assert as_page(report, material) == as_page(report, material)


def test_spans_are_counted_as_the_browser_counts() -> None:
    text = "🙂 so 🙂 it is B"
    reading = Reading(outcome=Outcome.WRONG, credit=0, answer="B", span=(len(text) - 1, len(text)))
    material = Material(replies={"q1": [text]})
    sample = _only_sample(as_page(_report([_sample(careful=reading)]), material))
    start, end = sample["careful"]["span"]
    assert text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le") == "B"


@each("span", [(-1, 2), (3, 3), (0, 99)])
def test_a_span_that_is_not_in_the_text_is_left_out(span: tuple[int, int]) -> None:
    reading = Reading(outcome=Outcome.WRONG, credit=0, span=span)
    material = Material(replies={"q1": ["text"]})
    data = as_page(_report([_sample(careful=reading)]), material)
    assert "span" not in _only_sample(data)["careful"]


def test_a_very_long_output_loses_its_middle_and_keeps_its_spans() -> None:
    text = "x" * 150_000 + "needle" + "y" * 150_000 + "B"
    end = Reading(outcome=Outcome.WRONG, credit=0, span=(len(text) - 1, len(text)))
    middle = Reading(outcome=Outcome.WRONG, credit=0, span=(150_000, 150_006))
    material = Material(replies={"q1": [text]})
    data = as_page(_report([_sample(official=middle, careful=end)]), material)
    sample = _only_sample(data)
    assert len(sample["output"]) == 200_000
    assert sample["cut"] == [133_333, len(text) - 200_000]
    assert sample["output"][slice(*sample["careful"]["span"])] == "B"
    assert "span" not in sample["official"]
    assert "1 output is longer than 200,000 characters; its middle is left out." in data.decode()


# --- figures ----------------------------------------------------------------------------------------------------


def test_the_curve_ends_where_a_task_has_too_few_samples() -> None:
    """Else pass@3 would be that of the second task alone, and lower than pass@2."""
    report = tasks([2], samples=2)
    longer = [msgspec.structs.replace(sample, qid="longer") for sample in tasks([0], samples=3).samples]
    made = curve(msgspec.structs.replace(report, samples=[*report.samples, *longer]))
    assert (made.k, made.careful) == ([1, 2], [(50.0, 2), (50.0, 2)])


def test_the_label_of_a_curve_names_the_first_and_the_last_known_value() -> None:
    block = CurveBlock(
        title="pass@k", axis="k", prefix="pass@", k=[1, 2, 3],
        official=[(10.0, 4), (20.0, 4), (30.0, 4)], careful=[(None, 0), (25.0, 4), (None, 0)],
    )  # fmt: skip
    assert curve_drawing(Plot(curve=block, unit="task", metrics=[])).label == (
        "pass@k: official rises from 10.0 at k = 1 to 30.0 at k = 3; careful rises from 25.0 at k = 2 to 25.0 at k = 2"
    )


# --- images -----------------------------------------------------------------------------------------------------


def _png(width: int, height: int, *, noise: bool) -> bytes:
    image = Image.effect_noise((width, height), 80) if noise else Image.new("RGB", (width, height), "teal")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_all_images_of_a_page_have_one_longest_side_and_keep_their_shape() -> None:
    assert [images.side_of(number) for number in (1, 143, 700, 5000)] == [1024, 1024, 463, 256]
    pictures = {str(number): _png(width, width // 2, noise=True) for number, width in enumerate((1600, 1200, 300))}
    made = [one for one in images.thumbnails(pictures, {}) if one]
    assert [one[1:] for one in made] == [(1024, 512), (1024, 512), (300, 150)]
    for url, width, height in made:
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            assert (image.format, image.size) == ("WEBP", (width, height))


@each("data", [b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", b"\x89PNG\r\n\x1a\n" * 9])
def test_what_is_no_image_is_left_out_and_said(data: bytes) -> None:
    material = Material(tasks={"q1": Task(id="q1")}, image_of={"q1": "k"}, images={"k": data})
    assert "1 of 1 images cannot be read." in as_page(_report([_sample()]), material).decode()


# --- size -------------------------------------------------------------------------------------------------------


def test_253_tasks_with_20_samples_and_an_image_each_stay_under_20_megabytes() -> None:
    """Tried with an eighth of the tasks, which have an eighth of the room."""
    tasks = 31
    report, material = big.made(tasks, width=400)
    assert (len(report.samples), len(material.images)) == (20 * tasks, tasks)
    outputs = [text for texts in material.replies.values() for text in texts]
    assert sum(map(len, outputs)) / len(outputs) > 1_900
    assert 5_000_000 < len(as_page(report, material)) * 253 / tasks < 20_000_000
