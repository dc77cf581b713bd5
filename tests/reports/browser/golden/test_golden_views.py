"""Golden views: what every bundled sample shows, compared whole. `make views` renews them; somebody reads the diff."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance import bundled
from tests.acceptance.command import grade
from tests.conftest import Once
from tests.made_runs import BENCHMARKS
from tests.reports.browser.conftest import Watched
from tests.reports.browser.golden import views

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

FOLDER = Path(__file__).parent
RENEWED = bool(os.environ.get("GRADE_TEST_RENEW"))
TABS = ("tab=summary", "tab=differences", "tab=items", "tab=about")
ITEMS = {
    "humaneval-v": "item=q1&sample=4",
    "humaneval": "item=sample%2F0",
    "vstar": "item=0",
    "mmbench": "item=13",
    "mr-ben": "item=math-2%2Fwriter-a",
    "gsm8k": "item=1",
    "pope": "item=2",
    "mmlu-pro": "item=3",
    "mmmu": "item=1",
    "mmstar": "item=0",
    "humaneval-plus": "item=HumanEval%2F0",
    "mbpp": "item=11",
    "mbpp-plus": "item=Mbpp%2F2",
    "livecodebench": "item=2",
}
"""Benchmark -> the item whose view is kept."""
WHOLE = {"humaneval-v", "vstar", "mmbench", "mr-ben"}
"""Benchmarks of which every tab and every width of the terminal is kept; of the others the summary and an item."""
QUICK = {"humaneval-v", "mmbench"}
"""One of programs and one of replies: `make test` compares their views, `make test-slow` those of the others."""
CODE = {"humaneval-v", "humaneval", "humaneval-plus", "mbpp", "mbpp-plus", "livecodebench"}
"""Benchmarks whose programs run in a sandbox."""
_SANDBOX = ["--sandbox", "bubblewrap", *bundled.LIMITS]


@pytest.mark.parametrize(
    "benchmark",
    [
        pytest.param(
            name,
            marks=[*([pytest.mark.bubblewrap] if name in CODE else []), *([] if name in QUICK else [pytest.mark.slow])],
        )
        for name in ITEMS
    ],
)
def test_a_bundled_sample_is_shown_as_it_was(
    benchmark: str, once: Once, tmp_path: Path, watch: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = BENCHMARKS / benchmark / "sample"
    if benchmark == "humaneval-v":
        graded = bundled.humaneval_v(once)
    else:
        graded = once(f"golden-{benchmark}", lambda folder: _graded(benchmark, sample, folder))
    shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
    results = tmp_path / "predictions_results.json"
    views.without_this_sandbox(results)
    k = ["-k", "1,3"] if benchmark == "humaneval-v" else []
    again = ["predictions.json", "-b", benchmark, *k, "--score-only"]
    item = f"tab=items&{ITEMS[benchmark]}"
    shown = (*TABS[:3], item, TABS[3]) if benchmark in WHOLE else (TABS[0], item)
    parts = [
        *views.terminal(tmp_path, again, monkeypatch, every_width=benchmark in WHOLE),
        f"=== report.md\n{views.compact((tmp_path / 'report.md').read_text().partition('<details><summary>How')[0])}\n",
        *views.page(watch, tmp_path / "report.html", shown),
    ]
    _compare(FOLDER / f"{benchmark}.txt", "\n".join(parts))


RUNS = {"compare.html": ("tab=summary", "tab=items", "tab=items&item=0"), "leaderboard.html": ("",)}
"""Page of several runs -> the views that are kept."""


def test_pages_of_several_runs_are_shown_as_they_were(
    once: Once, tmp_path: Path, watch: Callable[..., Watched]
) -> None:
    folder = once("golden-runs", _several)
    parts = []
    for name, shown in RUNS.items():
        shutil.copy(folder / name, tmp_path)
        parts += [f"##### {name}\n", *views.page(watch, tmp_path / name, shown)]
    _compare(FOLDER / "several-runs.txt", "\n".join(parts))


def _several(folder: Path) -> None:
    """Grade V*'s sample three times, with other answers each time, and write the pages as a user does."""
    sample = BENCHMARKS / "vstar" / "sample"
    records = json.loads((sample / "predictions.json").read_text())
    for step, others in ((1000, 9), (2000, 4), (3000, 0)):
        changed = [{**record, "predictions": ["D"]} if at < others else record for at, record in enumerate(records)]
        (folder / f"step_{step}.json").write_text(json.dumps(changed))
        words = [f"step_{step}.json", "-b", "vstar", "--data", sample / "questions.jsonl"]
        done = grade(*words, "-o", f"step_{step}.html", cwd=folder)
        assert done.returncode == 0, done.stderr
    runs = [f"step_{step}_results.json" for step in (1000, 2000, 3000)]
    for words in (
        ["compare", *runs[:2], "--data", sample / "questions.jsonl", "-o", "compare.html"],
        ["leaderboard", *runs, "-o", "leaderboard.html"],
    ):
        done = grade(*words, cwd=folder)
        assert done.returncode == 0, done.stderr


def _graded(benchmark: str, sample: Path, folder: Path) -> None:
    """Grade a sample as a user does, with a page and Markdown."""
    shutil.copy(sample / "predictions.json", folder)
    replies = sample / "judge_replies.json"
    (data,) = (path for path in sample.iterdir() if path.name.startswith(("tasks.", "questions.", "problems.", "data")))
    words = ["predictions.json", "-b", benchmark, "--data", data]
    words += ["--judge-replies", replies] if replies.is_file() else []
    words += _SANDBOX if benchmark in CODE else []
    done = grade(*words, "-o", "report.md", "-o", "report.html", cwd=folder)
    assert done.returncode == 0, done.stderr


def _compare(golden: Path, text: str) -> None:
    if RENEWED:
        golden.write_text(text)
    assert text == golden.read_text(), "run `make views` and read the diff"
