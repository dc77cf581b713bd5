"""TRL: its trainer asks our reward functions, and makes of the answers what the careful reading says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.integrations import rewards
from grader.integrations.trl import AsyncReward, Reward
from tests.golden import verdicts
from tests.golden.corpora import CORPORA, SAMPLES

pytestmark = pytest.mark.peers

trl = pytest.importorskip("trl", reason="TRL could not be installed")

SAMPLE = SAMPLES / "humaneval-v/sample"


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Any]:
    """A trainer of the smallest policy there is, with a reward of each kind; it trains nothing here."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"q": 0, "<pad>": 1}, unk_token="<pad>"))
    options = {"benchmark": "humaneval-v", "data": str(SAMPLE / "tasks.jsonl"), "sandbox": "bubblewrap"}
    yield trl.GRPOTrainer(
        model=GPT2LMHeadModel(GPT2Config(vocab_size=2, n_positions=8, n_embd=8, n_layer=1, n_head=1)),
        processing_class=PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<pad>"),
        train_dataset=Dataset.from_list([{"prompt": "q", "qid": "q1"}]),
        reward_funcs=[Reward(**options), AsyncReward(**options)],
        args=trl.GRPOConfig(output_dir=str(tmp_path), report_to=[], use_cpu=True, bf16=False),
    )
    for pool in rewards._pools.values():
        pool.close()
    rewards._pools.clear()


def test_rewards_are_the_careful_credits(trainer: Any, tmp_path: Path) -> None:
    (tmp_path / "graded").mkdir()
    (corpus,) = (corpus for corpus in CORPORA if corpus.name == "sample-humaneval-v")
    samples = verdicts.graded(corpus, tmp_path / "graded")["samples"]
    texts = {record["qid"]: record["predictions"] for record in json.loads((SAMPLE / "predictions.json").read_text())}
    completions = [texts[sample["qid"]][sample["sample"]] for sample in samples]
    # A row of another task: no reward of ours, which TRL leaves out of its mean.
    inputs = [{"prompt": "q", "qid": sample["qid"]} for sample in samples] + [{"prompt": "q", "qid": None}]
    count = len(inputs)
    found = trainer._calculate_rewards(inputs, ["q"] * count, [*completions, "else"], [[0]] * count)
    expected = [float(sample["careful"]["credit"]) for sample in samples]
    assert set(expected) == {0.0, 1.0}
    for column in range(2):
        assert found[:-1, column].tolist() == expected
    assert found[-1].isnan().all()
