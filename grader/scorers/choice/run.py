"""A grading run of a multiple-choice benchmark: independent questions, or circular groups of passes."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.judge.session import Bench, bench
from grader.results import Metric, Outcome, Report, SampleResult
from grader.scorers.choice import items as choice_items
from grader.scorers.choice import metrics as choice_metrics
from grader.scorers.choice import passes as choice_passes
from grader.scorers.selection import Graded, check_unchanged, earlier_report, environment, select, stem_of, stem_of_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.judge import JudgeReply
    from grader.options import Options
    from grader.scorers.choice.items import Item, Reply
    from grader.scorers.choice.reading import ChoiceReading
    from grader.scorers.selection import Selection

_CJK = re.compile(r"[\u4e00-\u9fff]")


def run(selection: Selection) -> Graded:
    """Read every reply and score; raises a GradeError."""
    declared = selection.benchmark
    circular = declared.scoring == "circular"
    items = choice_items.items_from(selection.rows, declared, selection.split)
    made: list[str] = []
    if circular:
        items = choice_passes.with_groups_of_first(choice_passes.with_rotations(items, selection, made))
        selection = choice_passes.of_whole_questions(selection, items)
    predictions, missing = select(selection, list(items))
    notes = [*selection.file.warnings, *missing, *made]
    wanted = [items[qid] for qid in predictions]
    if all(item.answer is None for item in wanted):
        return _submission(selection, wanted, predictions, notes)
    if circular:
        notes += choice_passes.notes_on_passes(wanted)
        choice_passes.check_rounds(wanted, predictions, selection.file, notes)
    version = declared.protocols[selection.protocol].reader
    replies = choice_items.read_replies(wanted, predictions, version)
    absent = [item for item in wanted if not predictions[item.qid]]
    with bench(selection.options, selection.observer, "choice", selection.file.judge_replies) as seat:
        _judge(replies, absent, seat, version, circular=circular)
    samples = _samples(replies, absent, predictions)
    if circular:
        choice_metrics.mark_questions(samples)
    facts = environment(selection, predictions) | seat.facts
    facts["position_bias"] = choice_metrics.position_bias(samples)
    if declared.abbreviations:
        facts["abbreviations"] = declared.abbreviations
    if declared.baselines:
        facts["baselines"] = choice_items.baselines(wanted)
        notes.append(
            "Baselines: chance {chance:.1f}, always the first letter {always_first_letter:.1f}.".format(
                **choice_items.baselines(wanted)["all"]
            )
        )
    report = Report(
        benchmark=declared.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=metrics(samples, declared),
        samples=samples,
        unscored=sum(Outcome.UNSCORED in (s.official.outcome, s.careful.outcome) for s in samples),
        environment=facts,
        notes=[*notes, *seat.notes],
    )
    return Graded(report=report, stem=stem_of(selection.file))


def _samples(
    replies: Iterable[Reply], absent: Iterable[Item], predictions: Mapping[str, list[str]]
) -> list[SampleResult]:
    """Return the results of the replies and of those that are absent, in the benchmark's order."""
    rounds = max(map(len, predictions.values()), default=0) or 1
    samples = [choice_items.sample_of(reply) for reply in replies]
    samples += [choice_items.absent(item, number) for item in absent for number in range(rounds)]
    order = {qid: number for number, qid in enumerate(predictions)}
    return sorted(samples, key=lambda sample: order[sample.qid])


def metrics(samples: list[SampleResult], declared: Benchmark) -> list[Metric]:
    """Return the figures of a multiple-choice report."""
    if declared.scoring == "circular":
        return [
            *choice_metrics.metric_rows(samples, "circular_accuracy", choice_metrics.whole_groups),
            *choice_metrics.metric_rows(samples, "vanilla_accuracy", choice_metrics.first_passes),
            *choice_metrics.metric_rows(samples, "vanilla_accuracy_all_passes", choice_metrics.all_passes),
        ]
    return choice_metrics.metric_rows(samples, "accuracy", choice_metrics.each_question)


def rescore(path: Path, declared: Benchmark, split: str, protocol: str, options: Options) -> Graded:  # noqa: ARG001
    """Score again from the results file (`options` as every scorer takes them)."""
    report = earlier_report(path, declared, split, protocol)
    if report is None:
        raise UsageError(
            f"--score-only: there is no {stem_of_path(path).name}_results.json beside {path.name}; "
            "grade it once without --score-only."
        )
    if not report.samples:
        raise UsageError(f"--score-only: {split} has no public answers, so there is nothing to score again.")
    check_unchanged(path, report)
    again = msgspec.structs.replace(report, metrics=metrics(report.samples, declared))
    return Graded(report=again, stem=stem_of_path(path))


# --- the judge --------------------------------------------------------------------------------------------------

_READ_FOR_SURE = frozenset(
    ("empty", "unclosed_reasoning", "refusal", "withdrawn", "breaks_off", "echo", "outside_options")
)
"""Rules by which the careful reading knows that there is no answer: nothing is left for a judge to find."""


def _judge(replies: list[Reply], absent: Iterable[Item], seat: Bench, version: str, *, circular: bool) -> None:
    """Ask the judge about what the rules could not read, where it can still matter."""
    if seat.judge is None:
        return
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import choice_prompt

    decided: dict[str, set[tuple[str, int]]] = {"official": set(), "careful": set()}
    if circular:
        decided = {name: {_round(reply) for reply in replies if _is_lost(reply, name, version)} for name in decided}
        gone = {item.unit for item in absent}
        decided["careful"] |= {_round(reply) for reply in replies if reply.item.unit in gone}
    asked: dict[str, Reply] = {}
    for reply in replies:
        needs = (n for n in decided if _is_open(reply, n, version) and _round(reply) not in decided[n])
        reply.asked = frozenset(needs)
        if reply.asked:
            asked[reply.item.qid if not reply.sample else f"{reply.item.qid}@{reply.sample}"] = reply
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
            accept=partial(_is_readable, reply, version),
        )
        for key, reply in asked.items()
    ]
    for key, answer in seat.judge.ask(questions).items():
        _apply(asked[key], answer, version)


def _is_open(reply: Reply, name: str, version: str) -> bool:
    """Whether rules leave it open what a reply says, so that a judge may find it."""
    if not reply.text.strip():
        return False
    if name == "careful":
        return reply.careful.outcome == "no_answer" and reply.careful.rule not in _READ_FOR_SURE
    return version.startswith("vlmevalkit") and reply.official.letter is None


def _is_lost(reply: Reply, name: str, version: str) -> bool:
    """Whether rules alone have found that a reply is not right."""
    read = reply.official if name == "official" else reply.careful
    return read.letter != reply.item.answer and not _is_open(reply, name, version)


def _round(reply: Reply) -> tuple[str, int]:
    return reply.item.unit, reply.sample


def _is_readable(reply: Reply, version: str, text: str) -> bool:
    return all(_judged(name, reply, version, text) is not None for name in reply.asked)


def _apply(reply: Reply, answer: JudgeReply, version: str) -> None:
    """Take the judge's word; a reply that only one reading can read is still that reading's."""
    text = answer.text if answer.text is not None else answer.unreadable
    reply.lost = f"the rules read no letter, and the judge gave none ({answer.error})"
    reply.official_judged = _judged("official", reply, version, text)
    reply.careful_judged = _judged("careful", reply, version, text)


def _judged(name: str, reply: Reply, version: str, text: str) -> ChoiceReading | None:
    """Read what the judge said: a letter, or `Z` for none of the options; None where it cannot be read."""
    from grader.scorers.choice.careful.read import read_choice
    from grader.scorers.choice.official import read_vlmevalkit

    options = reply.item.options
    if name == "official":
        read = read_vlmevalkit(text, options, version if version.startswith("vlmevalkit") else "vlmevalkit-2026-06")
    else:
        # A letter alone is a letter, even where it is the text of another option as well.
        read = read_choice(text, dict.fromkeys([*options, "Z"], ""))
        if read.letter is None:
            read = read_choice(text, options | {"Z": "none of the options"})
    return read if read.letter is not None else None


# --- submissions ------------------------------------------------------------------------------------------------


def _submission(selection: Selection, items: list[Item], predictions: dict[str, list[str]], notes: list[str]) -> Graded:
    """Answers are not public: the product is the table that the benchmark's server scores."""
    several = [f"{qid}: a submission has one prediction a row, not {len(p)}" for qid, p in predictions.items() if p[1:]]
    if several:
        raise InputError(several[:50])
    report = Report(
        benchmark=selection.benchmark.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=[],
        samples=[],
        environment=environment(selection, predictions),
        notes=[*notes, f"{selection.split} has no public answers: there is no score, but a submission file."],
    )
    columns = selection.benchmark.columns

    def write(stem: Path) -> Path:
        from grader.scorers.choice.submission import write_submission

        rows = [
            {name: value for name, value in item.row.items() if name != columns.image}
            | {"prediction": "".join(predictions[item.qid])}
            for item in items
        ]
        return write_submission(stem.with_name(f"{stem.name}_submission.xlsx"), rows, index=columns.id)

    return Graded(report=report, stem=stem_of(selection.file), write_more=write)
