"""Real programs and answers keep their verdicts in both readings, and their metrics keep their values.

A change that is meant to move a verdict comes with `make golden` and a diff that somebody has read.
"""

import difflib
import json
from pathlib import Path

import pytest

from tests.acceptance import bundled
from tests.conftest import Once
from tests.golden import verdicts
from tests.golden.corpora import CORPORA, SHARED, Corpus


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    "corpus", [pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one.slow else []) for one in CORPORA]
)
def test_verdicts_are_the_frozen_ones(corpus: Corpus, tmp_path: Path, once: Once) -> None:
    if corpus.shared and not SHARED.exists():
        pytest.skip(f"{SHARED} is not there: a clone of one's own does not have this data")
    if corpus.name == "sample-humaneval-v":
        # The verdicts of its slow and hungry programs take longest; other tests need them, too.
        results = json.loads((bundled.humaneval_v(once) / "predictions_results.json").read_text(encoding="utf-8"))
    else:
        results = verdicts.graded(corpus, tmp_path, corpus.every)
    before = verdicts.path(corpus).read_text(encoding="utf-8")
    after = verdicts.frozen(results)
    if corpus.every > 1:
        before, after = _samples_of(before, results["samples"]), _samples_of(after, results["samples"])
    moved = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))
    # No plain comparison: pytest would take minutes to explain one of texts of this length.
    if moved:
        pytest.fail("\n".join([*moved, "If this is meant, run `make golden` and read its diff."]), pytrace=False)


def _samples_of(frozen: str, samples: list[dict[str, object]]) -> str:
    """Return what is frozen of the tasks of some samples; the metrics are those of all tasks."""
    qids = {sample["qid"] for sample in samples}
    assert qids
    return "\n".join(line for line in frozen.split("\n") if line.split("\t")[0] in qids)


def test_what_is_frozen_is_what_is_graded() -> None:
    assert {verdicts.path(corpus) for corpus in CORPORA} == set(verdicts.FROZEN.iterdir())
