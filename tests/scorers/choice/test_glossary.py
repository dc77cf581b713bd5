"""Reports explain every rule by which a reply is read, in one sentence."""

from __future__ import annotations

import pytest

from grader.scorers.choice.careful.read import read_choice
from grader.scorers.choice.glossary import GLOSSARY
from grader.scorers.choice.official import (
    LMMS_EVAL_VERSIONS,
    VLMEVALKIT_VERSIONS,
    read_lmms_eval,
    read_vlmevalkit,
)
from tests.scorers.choice.test_wordings import FIRST_ROUND, MISSED, SECOND_ROUND
from tests.scorers.choice.test_wordings_third import MENDED, MISREAD, THIRD_ROUND

WORDINGS = [*FIRST_ROUND, *SECOND_ROUND, *MISSED, *THIRD_ROUND, *MENDED, *MISREAD]


def test_every_rule_that_reads_a_wording_is_explained() -> None:
    rules = {read_choice(text, options).rule for text, options, _ in WORDINGS}
    rules |= {read_lmms_eval(text, version).rule for text, *_ in WORDINGS for version in LMMS_EVAL_VERSIONS}
    rules |= {
        read_vlmevalkit(text, options, version).rule for text, options, _ in WORDINGS for version in VLMEVALKIT_VERSIONS
    }
    assert len(rules) > 30
    assert rules - set(GLOSSARY) == set()


@pytest.mark.parametrize("text", GLOSSARY.values())
def test_an_explanation_is_a_sentence(text: str) -> None:
    assert text[0].isupper()
    assert text.endswith(".")
