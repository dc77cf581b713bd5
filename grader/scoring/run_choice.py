"""A grading run of a multiple-choice benchmark: independent questions, or circular groups of passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.grading import Graded, check_unchanged, earlier_report, environment, select, stem_of, stem_of_path
from grader.judging import Bench, bench
from grader.results import Metric, Outcome, Reading, Report, SampleResult
from grader.scoring import choice_items, choice_metrics
from grader.scoring.choice_items import Item, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.grading import Selection
    from grader.options import Options

_CJK = re.compile(r"[\u4e00-\u9fff]")


def run(selection: Selection) -> Graded:
    """Read every reply and score; raises a GradeError."""
    declared = selection.benchmark
    items = choice_items.items_from(selection.rows, declared, selection.split)
    notes: list[str] = []
    if declared.scoring == "circular":
        items = _with_rotations(items, selection, notes)
    predictions, missing = select(selection, list(items))
    notes = [*selection.file.warnings, *missing, *notes]
    wanted = [items[qid] for qid in predictions]
    if all(item.answer is None for item in wanted):
        return _submission(selection, wanted, predictions, notes)
    if declared.scoring == "circular":
        _check_passes(wanted, predictions, notes)
    version = declared.protocols[selection.protocol].reader
    replies = choice_items.read_replies(wanted, predictions, version)
    with bench(selection.options, selection.observer, "choice", selection.file.judge_replies) as seat:
        _judge(replies, seat, version, circular=declared.scoring == "circular")
    samples = [choice_items.sample_of(reply) for reply in replies] + _absent(wanted, predictions)
    facts = environment(selection, predictions) | seat.facts | {"position_bias": choice_items.position_bias(samples)}
    if declared.baselines:
        facts["baselines"] = _baselines(wanted)
        notes.append(_baseline_note(wanted))
    report = Report(
        benchmark=declared.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=metrics(samples, declared),
        samples=samples,
        unscored=sum(Outcome.UNSCORED in (s.official.outcome, s.careful.outcome) for s in samples),
        environment=facts,
        notes=notes,
    )
    return Graded(report=report, stem=stem_of(selection.file))


def metrics(samples: list[SampleResult], declared: Benchmark) -> list[Metric]:
    """Return the figures of a multiple-choice report."""
    if declared.scoring == "circular":
        return [
            *choice_metrics.metric_rows(samples, "circular_accuracy", choice_metrics.whole_groups),
            *choice_metrics.metric_rows(samples, "vanilla_accuracy", choice_metrics.first_passes),
            *choice_metrics.metric_rows(samples, "vanilla_accuracy_all_passes", choice_metrics.all_passes),
        ]
    return choice_metrics.metric_rows(samples, "accuracy", choice_metrics.each_question)


def rescore(path: Path, declared: Benchmark, split: str, protocol: str, options: Options) -> Graded:
    """Score again from the results file."""
    report = earlier_report(path, declared, split, protocol)
    if report is None:
        raise UsageError(
            f"--score-only: there is no {stem_of_path(path).name}_results.json beside {path.name}; "
            "grade it once without --score-only."
        )
    check_unchanged(path, report)
    again = msgspec.structs.replace(report, metrics=metrics(report.samples, declared))
    return Graded(report=again, stem=stem_of_path(path))


# --- circular groups --------------------------------------------------------------------------------------------


def _with_rotations(items: dict[str, Item], selection: Selection, notes: list[str]) -> dict[str, Item]:
    """Add the passes that the data lacks and the predictions have, by rotating the options."""
    base = {qid: item for qid, item in items.items() if qid == item.unit}
    strangers = [record.qid for record in selection.file.records if record.qid not in items]
    if len(base) == len(items) and strangers:
        stride = selection.benchmark.pass_stride
        made = {rolled.qid: rolled for item in base.values() for rolled in _rotations(item, stride)}
        if any(qid in made for qid in strangers):
            notes.append("The data has first passes only; the other passes were made by rotating their options.")
            return items | made
    incomplete = _incomplete(items.values())
    if len(base) == len(items):
        notes.append("Data and predictions have one pass a question: circular accuracy is that of a single pass.")
    elif incomplete:
        some = ", ".join(incomplete[:5]) + (", ..." if len(incomplete) > 5 else "")
        notes.append(f"{len(incomplete)} questions have fewer passes in the data than options ({some}).")
    return items


def _rotations(item: Item, stride: int) -> Iterable[Item]:
    """Yield the passes 1, 2, ... of a question: in each, every option has moved one letter on."""
    letters, texts = list(item.options), list(item.options.values())
    for number in range(1, len(letters)):
        turned = texts[-number:] + texts[:-number]
        answer = item.answer
        if answer is not None:
            answer = letters[(letters.index(answer) + number) % len(letters)]
        yield msgspec.structs.replace(
            item,
            qid=str(int(item.qid) + number * stride),
            options=dict(zip(letters, turned, strict=True)),
            answer=answer,
        )


def _incomplete(items: Iterable[Item]) -> list[str]:
    passes: dict[str, list[Item]] = {}
    for item in items:
        passes.setdefault(item.unit, []).append(item)
    return [unit for unit, members in passes.items() if len(members) < len(members[0].options)]


def _check_passes(items: list[Item], predictions: dict[str, list[str]], notes: list[str]) -> None:
    """Raise InputError where passes of one question have different numbers of samples."""
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        if predictions[item.qid]:
            counts.setdefault(item.unit, {})[item.qid] = len(predictions[item.qid])
    problems = [
        f"question {unit}: its passes have different numbers of predictions "
        f"({', '.join(f'{qid}: {n}' for qid, n in passes.items())})"
        for unit, passes in counts.items()
        if len(set(passes.values())) > 1
    ]
    if problems:
        raise InputError(problems[:50])
    several = sum(max(passes.values()) > 1 for passes in counts.values())
    if several:
        notes.append(f"{several} questions have several predictions a pass; each round of passes counts as one trial.")


def _absent(items: list[Item], predictions: dict[str, list[str]]) -> list[SampleResult]:
    """Items without a prediction, under `--missing wrong`: official scorers do not notice, a careful person does."""
    reading = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail="there is no prediction", rule="missing")
    rounds = max(map(len, predictions.values()), default=1)
    return [
        SampleResult(
            qid=item.qid,
            sample=number,
            official=reading,
            careful=reading,
            unit=item.unit if item.unit != item.qid else msgspec.UNSET,
            groups=item.groups or msgspec.UNSET,
            extra={"gold": item.answer},
        )
        for item in items
        if not predictions[item.qid]
        for number in range(rounds)
    ]


# --- the judge --------------------------------------------------------------------------------------------------


def _judge(replies: list[Reply], seat: Bench, version: str, *, circular: bool) -> None:
    """Ask the judge about what the rules could not read, where it can still matter."""
    if seat.judge is None:
        return
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import choice_prompt

    decided = {name: _decided(replies, name) if circular else set() for name in ("official", "careful")}
    asked: dict[str, Reply] = {}
    for reply in replies:
        needs = frozenset(
            name for name in decided if _needs(reply, name, version) and _round(reply) not in decided[name]
        )
        if needs and reply.text.strip():
            reply.asked = needs
            asked[reply.item.qid if not reply.sample else f"{reply.item.qid}#{reply.sample}"] = reply
    questions = [
        JudgeQuestion(
            qid=key,
            prompt=choice_prompt(
                reply.item.question,
                reply.item.options,
                reply.text,
                chinese=bool(_CJK.search(reply.item.question)),
                template=seat.template,
            ),
            accept=_acceptable(reply.item),
        )
        for key, reply in asked.items()
    ]
    for key, answer in seat.judge.ask(questions).items():
        _apply(asked[key], answer.text, answer.error, version)


def _needs(reply: Reply, name: str, version: str) -> bool:
    if name == "careful":
        return reply.careful.outcome == "no_answer"
    return version.startswith("vlmevalkit") and reply.official.letter is None


def _round(reply: Reply) -> tuple[str, int]:
    return reply.item.unit, reply.sample


def _decided(replies: list[Reply], name: str) -> set[tuple[str, int]]:
    """Return the rounds of passes that a wrong letter has decided already."""
    found = set()
    for reply in replies:
        read = reply.official if name == "official" else reply.careful
        if read.outcome == "ambiguous" or (read.letter is not None and read.letter != reply.item.answer):
            found.add(_round(reply))
    return found


def _acceptable(item: Item):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a closure
    from grader.reading.choice_official import read_vlmevalkit

    return lambda text: read_vlmevalkit(text, item.options).letter is not None


def _apply(reply: Reply, text: str | None, error: str, version: str) -> None:
    from grader.reading.choice_careful import read_choice
    from grader.reading.choice_official import read_vlmevalkit

    if text is None:
        reply.lost = f"the rules read no letter, and the judge gave none ({error})"
        return
    matching = version if version.startswith("vlmevalkit") else "vlmevalkit-2026-06"
    reply.official_judged = read_vlmevalkit(text, reply.item.options, matching)
    reply.careful_judged = read_choice(text, reply.item.options | {"Z": "none of the options"})


# --- baselines and submissions ----------------------------------------------------------------------------------


def _baselines(items: list[Item]) -> dict[str, float]:
    """Return, in percent, what chance and a constant first letter would score."""
    chance = sum(1 / len(item.options) for item in items) / len(items)
    first = sum(item.answer == next(iter(item.options)) for item in items) / len(items)
    return {"chance": 100 * chance, "always_first_letter": 100 * first}


def _baseline_note(items: list[Item]) -> str:
    figures = _baselines(items)
    return f"Baselines: chance {figures['chance']:.1f}, always A {figures['always_first_letter']:.1f}."


def _submission(selection: Selection, items: list[Item], predictions: dict[str, list[str]], notes: list[str]) -> Graded:
    """Answers are not public: the product is the table that the benchmark's server scores."""
    several = [qid for qid, texts in predictions.items() if len(texts) > 1]
    if several:
        raise InputError(
            [f"{qid}: a submission has one prediction a row, not {len(predictions[qid])}" for qid in several[:50]]
        )
    report = Report(
        benchmark=selection.benchmark.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=[],
        samples=[],
        environment=environment(selection, predictions),
        notes=[*notes, f"{selection.split} has no public answers: there is no score, but a submission file."],
    )
    image = selection.benchmark.columns.image

    def write(stem: Path) -> Path:
        from grader.reports.submission import write_submission

        rows = [
            {k: v for k, v in item.row.items() if k != image} | {"prediction": "".join(predictions[item.qid])}
            for item in items
        ]
        return write_submission(stem.with_name(f"{stem.name}_submission.xlsx"), rows)

    return Graded(report=report, stem=stem_of(selection.file), write_more=write)
