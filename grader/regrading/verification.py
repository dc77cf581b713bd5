"""Checking a published result: samples of a bundle are graded again, and bound how many verdicts are wrong.

Which verdicts are drawn follows from the bundle's digest and a seed. If the seed is chosen after the digest was
published (by the verifier, or a public lottery), the publisher could not prepare the drawn ones.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.predictions.record import counted
from grader.regrading.again import Key, grade_again, key_of, prepared
from grader.regrading.bundle import declaration_digest
from grader.results import READINGS, Calls, Outcome
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import most_of

if TYPE_CHECKING:
    from grader.grading import Opened
    from grader.observer import Observer
    from grader.options import Options
    from grader.regrading.bundle import Bundle
    from grader.results import Reading, Report, SampleResult

SHOWN = 10


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    """A published verdict that differs from the second one, or has no second one."""

    qid: str
    sample: int
    what: str
    """`careful failed -> passed`, for each reading that differs, and the number of right calls."""
    moves: bool
    """Whether its credit differs, in either reading."""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of a bundle found."""

    schema: int = 1
    digest: str
    """The bundle's."""
    is_published: bool
    """Whether this is the digest that was published."""
    seed: str
    benchmark: str
    split: str
    protocol: str
    verdicts: int
    """Number of samples with a prediction; to call one unscored is a verdict, too."""
    drawn: int
    wrong: list[Wrong]
    lost: list[Wrong]
    """Drawn samples that have a verdict, and could not be scored again, and why."""
    most: int
    """The 95 % upper bound of the number of wrong verdicts among all; lost ones count as wrong."""
    notes: list[str] = []

    @property
    def share(self) -> float:
        """The bound in percent of all verdicts."""
        return 100 * self.most / self.verdicts


def verify(
    bundle: Bundle, options: Options, observer: Observer, *, seed: str, count: int, is_published: bool = False
) -> Verification:
    """Grade `count` of a bundle's samples again. Raises GradeError, for example if these are not its data.

    `is_published`: whether the bundle has the digest that was published.
    """
    report = bundle.report
    if report.provenance.judge is not None and options.judge_replies is None and not bundle.file.judge_replies:
        raise UsageError("This run had a judge: give the replies that it recorded with --judge-replies FILE.")
    if report.provenance.data_digest is None:
        raise InputError(["The bundle does not say with which data it was graded, so nothing can be checked."])
    opened = prepared(report, bundle.file, options)
    graded = {sample.qid for sample in report.samples}
    if report.part is None and (left_out := [qid for qid in opened.tasks if qid not in graded]):
        raise InputError([f"The results leave out {counted(len(left_out), 'task')}, such as {left_out[0]}."])
    texts = {record.qid: len(record.predictions) for record in bundle.file.records}
    known = [key_of(sample) for sample in report.samples if sample.sample < texts.get(sample.qid, 0)]
    if not known:
        raise UsageError("The bundle has no predictions, so there is nothing to check.")
    drawn = draw(known, bundle.digest, seed, count)
    again = grade_again(report, bundle.file, drawn, options, observer)
    lost = {key: _lost(again.pairs.get(key)) for key in drawn if not _is_reached(again.pairs.get(key))}
    checked = [_wrong(key, *again.pairs[key]) for key in drawn if key not in lost]
    wrong = [one for one in checked if one.what]
    bad = len(wrong) + len(lost)
    return Verification(
        digest=bundle.digest,
        is_published=is_published,
        seed=seed,
        benchmark=report.benchmark,
        split=report.split,
        protocol=report.protocol,
        verdicts=len(known),
        drawn=len(drawn),
        wrong=wrong,
        lost=[Wrong(qid=qid, sample=sample, what=why, moves=False) for (qid, sample), why in lost.items()],
        most=bad + most_of(len(known) - len(drawn), bad, len(drawn)),
        notes=_notes(bundle, opened, again.report.provenance.grade),
    )


def draw(keys: list[Key], digest: str, seed: str, count: int) -> list[Key]:
    """Return `count` of the keys: those with the lowest hashes of digest, seed and key."""

    def place(key: Key) -> bytes:
        return hashlib.sha256(msgspec.json.encode([digest, seed, *key])).digest()

    return sorted(keys, key=place)[:count]


def _is_reached(pair: tuple[SampleResult, SampleResult] | None) -> bool:
    """Whether a sample was scored again in each reading in which it was scored at first."""
    return pair is not None and not _unscored(pair[1]) - _unscored(pair[0])


def _unscored(sample: SampleResult) -> set[str]:
    return {name for name in READINGS if sample.reading(name).outcome is Outcome.UNSCORED}


def _lost(pair: tuple[SampleResult, SampleResult] | None) -> str:
    if pair is None:
        return "no result"
    return pair[1].careful.detail or pair[1].official.detail or "unscored"


def _verdict(reading: Reading) -> tuple[Outcome, str | None, float]:
    return reading.outcome, reading.answer, reading.points


def _calls(sample: SampleResult) -> str:
    return f"{sample.calls.same} of {sample.calls.n}" if isinstance(sample.calls, Calls) else "none"


def _wrong(key: Key, before: SampleResult, now: SampleResult) -> Wrong:
    """Return how two results of a sample differ; its `what` is empty if they do not."""
    pairs = [(name, before.reading(name), now.reading(name)) for name in READINGS]
    what = [
        f"{name} {_shown(was)} -> {_shown(found)}" for name, was, found in pairs if _verdict(was) != _verdict(found)
    ]
    calls = [] if _calls(before) == _calls(now) else [f"right calls {_calls(before)} -> {_calls(now)}"]
    return Wrong(
        qid=key[0],
        sample=key[1],
        what=" and ".join([*what, *calls]),
        moves=any(was.credit != found.credit for _, was, found in pairs),
    )


def _shown(reading: Reading) -> str:
    return f"{reading.outcome} ({reading.answer})" if reading.answer else str(reading.outcome)


def _notes(bundle: Bundle, opened: Opened, own: str) -> list[str]:
    notes = []
    if bundle.manifest.grade != own:
        notes.append(f"It was graded by grade {bundle.manifest.grade or 'unknown'}, and is checked by {own}.")
    if bundle.manifest.declaration != declaration_digest(opened.run.benchmark):
        notes.append("The benchmark.toml here declares something else than the one with which it was graded.")
    if other := _other_intervals(bundle.report):
        notes.append(f"This version of grade computes other intervals from its samples for: {', '.join(other)}.")
    sandbox = bundle.report.provenance.sandbox
    if sandbox is not None:
        limits = f"{sandbox.cpu_seconds:g} s of CPU time and {sandbox.memory_bytes / (1 << 20):,.0f} MB of memory"
        notes.append(f"Limits of its programs, then and now: {limits}.")
    if part := bundle.report.part:
        notes.append(f"Only a part of the benchmark was graded: {part.in_words()}.")
    return notes


def _other_intervals(report: Report) -> list[str]:
    """Return the overall metrics whose interval or standard error does not follow from the samples."""
    made = {(m.name, m.reading, m.group): (m.ci95, m.stderr) for m in scorer_of(report).metrics(report)}
    other = [m for m in report.metrics if made[m.name, m.reading, m.group] != (m.ci95, m.stderr)]
    return list(dict.fromkeys(metric.name for metric in other))


def in_words(found: Verification) -> list[str]:
    """Return what a check found, a line each."""
    same = found.drawn - len(found.wrong) - len(found.lost)
    counts = f"{same:,} verdicts are the same, {len(found.wrong):,} differ"
    counts += f", {len(found.lost):,} are missing (these count as wrong)" if found.lost else ""
    drawn = f"{found.drawn:,} of {found.verdicts:,} verdicts were drawn with the seed {found.seed!r}"
    lines = [
        f"Bundle {found.digest} ({found.benchmark}, {found.split}, {found.protocol}): {_state(found)}.",
        *found.notes,
        f"{drawn}, and their samples graded again: {counts}.",
    ]
    bad = [*found.wrong, *found.lost]
    lines += [f"  {one.qid} #{one.sample}: {one.what}" for one in bad[:SHOWN]]
    if len(bad) > SHOWN:
        lines.append(f"  ... and {len(bad) - SHOWN} more; -o FILE.json has them all.")
    if found.wrong:
        moving = sum(one.moves for one in found.wrong)
        slow = " Timeouts may differ on a slower machine." if any("timeout" in one.what for one in found.wrong) else ""
        lines.append(f"{moving} of them change the sample's credit.{slow}")
    if found.drawn == found.verdicts:
        wrong = f"Number of wrong ones: {found.most:,} ({found.share:.1f} %)"
        return [*lines, f"All {found.verdicts:,} verdicts were checked. {wrong}."]
    most = f"Of all {found.verdicts:,} verdicts, at most {found.most:,} are wrong"
    return [*lines, f"{most} ({found.share:.1f} %; 95 % confidence)."]


def _state(found: Verification) -> str:
    if found.is_published:
        return "unchanged since its digest was published"
    return "its parts match each other; give the published digest with --digest to check that it was not replaced"
