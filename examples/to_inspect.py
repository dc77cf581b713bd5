"""Scores for a log of inspect_ai: `python examples/to_inspect.py RESULTS SCORES.jsonl [official]`.

It writes a line for each scored sample: `inspect score LOG --scorer precomputed_scores -S scores=SCORES.jsonl` adds
them to the log that was graded. They are those of the careful reading, unless `official` is given.
"""

import json
import sys
from pathlib import Path

import grader


def main(results: str, scores: str, reading: str = "careful") -> None:
    """Write the scores; unscored samples are left out, so inspect_ai leaves them unscored as well."""
    lines = [
        {
            "id": sample.qid,
            "epoch": sample.sample + 1,
            "value": float(read.credit),
            "answer": read.answer,
            "explanation": read.detail or read.outcome.value,
            "metadata": {"reading": reading, "outcome": read.outcome.value, "rule": read.rule_name},
        }
        for sample in grader.read_report(results).samples
        for read in [sample.official if reading == "official" else sample.careful]
        if read.credit is not None
    ]
    Path(scores).write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
