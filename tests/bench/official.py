"""Runs HumanEval-V's own evaluator on a prediction file, to time it. It runs the programs without any protection.

    python tests/bench/official.py CHECKOUT FOLDER

CHECKOUT is one of HumanEval-V/HumanEval-V-Benchmark: of its first version (up to 5cc5f51) or of its second (c8c4e53).
It has the evaluator's `evaluate.py` and `execution.py`; FOLDER has `tasks.jsonl` and `predictions.json`. The
evaluator assembles, lints and runs every prediction with its own functions, on all cores. Its imports that only load
data or ask models are replaced by empty modules.
"""

import json
import os
import sys
import tempfile
import types
from pathlib import Path
from typing import Any


def _import(checkout: Path) -> Any:
    for name, members in {
        "fire": ("Fire",),
        # The first version loads the data while it is imported.
        "datasets": ("load_dataset", "load_from_disk"),
        "inference": ("EXP_V2C", "EXP_V2C_COT", "EXP_V2T2C", "EXP_V2T2C_4o", "EXP_T2C", "Experiments"),
    }.items():
        module = types.ModuleType(name)
        for member in members:
            setattr(module, member, lambda *_, **__: None)
        sys.modules[name] = module
    sys.path.insert(0, str(checkout))
    import evaluate

    return evaluate


def main() -> None:
    """Assemble, lint and run every prediction as the evaluator does."""
    checkout, folder = (Path(word).resolve() for word in sys.argv[1:3])
    evaluate = _import(checkout)
    tasks = {task["qid"]: task for task in map(json.loads, (folder / "tasks.jsonl").read_text().splitlines())}
    records = json.loads((folder / "predictions.json").read_text())
    samples = []
    for record in records:
        task = tasks[record["qid"]]
        for number, text in enumerate(record["predictions"]):
            _, code = evaluate.post_process(text, task["function_signature"], task["test_script"])
            samples.append({"qid": record["qid"], "task_id": number, "concatenated_code": code})
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        Path("cache").mkdir()
        if hasattr(evaluate, "EXP_V2C"):
            found = evaluate.parallel_execution(samples).values()
        else:
            found = [evaluate.parallel_execution([sample["concatenated_code"] for sample in samples])]
        os.chdir("/")
    passed = sum(bool(result["passed"]) for results in found for result in results)
    print(f"{passed} of {len(samples)} passed")


if __name__ == "__main__":
    main()
