"""Train a toy policy on graded rewards: GRPO with TRL, on a CPU. `make example` runs it.

The policy's words are whole programs, right ones and wrong ones for eight tasks, and its model is tiny and made from a
config. So it learns in a minute which program a task wants, and shows the way of a sample from a policy to the sandbox
and back.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from grader.integrations.trl import Reward

SAMPLE = Path(__file__).resolve().parents[1] / "benchmarks" / "humaneval-v" / "sample"
RECORDS = json.loads((SAMPLE / "predictions.json").read_text())


def main(steps: int, data: Path = SAMPLE / "tasks.jsonl") -> list[dict[str, float]]:
    """Train, and return what the trainer logged at each step."""
    tasks = [record["qid"] for record in RECORDS]
    programs = [text for record in RECORDS for text in record["predictions"][:2]]
    words = {word: number for number, word in enumerate(dict.fromkeys([*programs, *tasks, "<pad>"]))}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<pad>")), pad_token="<pad>", eos_token="<pad>"
    )
    size = GPT2Config(vocab_size=len(words), n_positions=8, n_embd=32, n_layer=1, n_head=2, bos_token_id=None)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=GPT2LMHeadModel(size),
            processing_class=tokenizer,
            # `prompt` is what the policy sees; `qid` tells the reward which task a completion is for.
            train_dataset=Dataset.from_list([{"prompt": qid, "qid": qid} for qid in tasks]),
            # The pool behind the reward starts with the first call and ends with this process.
            reward_funcs=[Reward(benchmark="humaneval-v", data=data)],
            args=GRPOConfig(
                output_dir=folder, max_steps=steps, per_device_train_batch_size=32, num_generations=8, beta=0.0,
                max_completion_length=1, learning_rate=0.02, lr_scheduler_type="constant", logging_steps=1,
                report_to=[], use_cpu=True, bf16=False, save_strategy="no", disable_tqdm=True,
            ),
        )  # fmt: skip
        trainer.train()
    return [log for log in trainer.state.log_history if "reward" in log]


if __name__ == "__main__":
    for number, log in enumerate(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)):
        # `grade/suspect` is the share to watch: it rises first when a policy learns to look right.
        print(f"step {number}: reward {log['reward']:.2f}, suspect {log['grade/suspect']:.2f}")
