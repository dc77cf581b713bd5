"""Files as lmms-eval writes them: `python examples/to_lmms_eval.py RESULTS FOLDER MODEL`.

The two readings have the place of two filters. The predictions, a JSON array, are beside RESULTS.
"""

import datetime
import json
import sys
from pathlib import Path

import grader
from grader.results import Reading, SampleResult


def main(results: str, folder: str, model: str) -> None:
    """Write `*_results.json` and `*_samples_BENCHMARK.jsonl`; values are shares from 0 to 1, as in lmms-eval."""
    report = grader.read_report(results)
    task, values = report.benchmark, {}
    for metric in (one for one in report.metrics if one.group is None and one.value is not None):
        values[f"{metric.name},{metric.reading}"] = metric.value / 100
        if metric.stderr is not None:
            values[f"{metric.name}_stderr,{metric.reading}"] = metric.stderr / 100
    members: dict[str, list[SampleResult]] = {}
    for sample in report.samples:
        members.setdefault(sample.qid, []).append(sample)
    date = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d_%H%M%S")
    made = {
        "results": {task: {"alias": task, **values}},
        "configs": {task: {"task": task, "test_split": report.split}},
        "versions": {task: report.protocol},
        "n-shot": {task: 0},
        "n-samples": {task: {"original": report.part.of if report.part else len(members), "effective": len(members)}},
        "config": {"model": model, "model_args": "", "limit": report.part.n if report.part else None},
        "model_name": model,
        "date": date,
    }
    predictions = Path(results).with_name(report.provenance.predictions or "predictions.json")
    texts = {str(one["qid"]): one["predictions"] for one in json.loads(predictions.read_text())}
    name = report.metrics[0].name if report.metrics else "credit"
    lines = [
        {
            "doc_id": number,
            "doc": {"question_id": qid},
            "input": "",
            "target": "",
            "resps": [texts[qid]],
            "filtered_resps": [sample.careful.answer or "" for sample in samples],
            f"official_{name}": [_credit(sample.official) for sample in samples],
            f"careful_{name}": [_credit(sample.careful) for sample in samples],
        }
        for number, (qid, samples) in enumerate(members.items())
        if texts.get(qid)
    ]
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{date}_results.json").write_text(json.dumps(made, indent=2))
    (place / f"{date}_samples_{task}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _credit(reading: Reading) -> float | None:
    return None if reading.outcome.value in {"unscored", "not_judged"} else reading.credit


if __name__ == "__main__":
    main(*sys.argv[1:])
