"""A bundle has one digest and shows every change; checking it finds wrong verdicts, other data and what is left out."""

import json
import shutil
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.cli import run
from grader.errors import ChangedBundleError, InputError, UsageError
from grader.observer import Silent
from grader.regrading import bundle
from grader.regrading.again import options_of
from grader.regrading.verification import Verification, draw, in_words, verify
from grader.results import Calls, Outcome, Report, UnscoredCounts
from grader.results.file import encode_report, read_report
from grader.scorers import declarations
from grader.scorers.registry import scorer_of
from tests.conftest import Once
from tests.made_runs import BENCHMARKS, SAMPLES


@pytest.fixture
def graded(once: Once) -> Callable[[str], Path]:
    """Return a function that grades a benchmark's bundled sample, and returns its folder."""

    def of(benchmark: str) -> Path:
        def fill(folder: Path) -> None:
            sample = BENCHMARKS / benchmark / "sample"
            shutil.copy(sample / "predictions.json", folder)
            words = [str(folder / "predictions.json"), "-b", benchmark, "--data", str(data(benchmark)), "-q"]
            words += ["--sandbox", "bubblewrap"] if benchmark == "humaneval" else []
            words += ["--judge-replies", str(replies)] if (replies := sample / "judge_replies.json").exists() else []
            assert run(words) == 0

        return once(f"bundle-{benchmark}", fill)

    return of


def data(benchmark: str) -> Path:
    return BENCHMARKS / benchmark / "sample" / SAMPLES.get(benchmark, "tasks.jsonl")


def packed(folder: Path, benchmark: str, replies: Path | None = None) -> bytes:
    results, predictions = folder / "predictions_results.json", folder / "predictions.json"
    return bundle.make(results, predictions, replies, declarations.load(benchmark))


def edited(folder: Path, to: Path, change: Callable[[Report], Report]) -> Path:
    """Return a new folder with the same predictions and consistent, but changed, results."""
    report = change(read_report(folder / "predictions_results.json"))
    report = msgspec.structs.replace(report, metrics=scorer_of(report).metrics(report))
    shutil.copytree(folder, to)
    (to / "predictions_results.json").write_bytes(encode_report(report))
    return to


def checked(content: bytes, to: Path, benchmark: str, count: int = 200, **given: Any) -> Verification:
    path = to / "x_bundle.zip"
    path.write_bytes(content)
    read = bundle.read(path)
    options = options_of(read.report, **{"data": data(benchmark)} | given)
    return verify(read, options, Silent(), seed="a seed", count=count)


def credited(report: Report, which: int = 0) -> Report:
    """The report of a publisher who counts one of the wrong answers as right."""
    at = [at for at, sample in enumerate(report.samples) if not sample.careful.credit][which]
    sample = report.samples[at]
    right = msgspec.structs.replace(sample.careful, outcome=Outcome.CORRECT, credit=1)
    changed = [*report.samples]
    changed[at] = msgspec.structs.replace(sample, careful=right)
    return msgspec.structs.replace(report, samples=changed)


def test_the_same_run_has_the_same_digest_and_the_same_verdicts_when_graded_again(
    graded: Callable[[str], Path], tmp_path: Path
) -> None:
    content = packed(graded("vstar"), "vstar")
    assert content == packed(graded("vstar"), "vstar")
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert archive.namelist() == ["manifest.json", "results.json", "predictions"]
    found = checked(content, tmp_path, "vstar", count=4)
    assert (found.verdicts, found.drawn, found.wrong, found.lost) == (10, 4, [], [])
    # C(5, 4) / C(10, 4) = 0.024 and C(6, 4) / C(10, 4) = 0.071: four wrong ones may hide among ten, five do not.
    assert found.most == 4
    assert in_words(found)[-1] == "Of all 10 verdicts, at most 4 are wrong (40.0 %; 95 % confidence)."


def test_a_wrong_verdict_is_found_and_named(graded: Callable[[str], Path], tmp_path: Path) -> None:
    folder = edited(graded("vstar"), tmp_path / "new", credited)
    content = packed(folder, "vstar")
    found = checked(content, tmp_path, "vstar")
    assert len(found.wrong) == found.most == 1
    assert found.wrong[0].moves
    assert "careful correct" in found.wrong[0].what
    assert in_words(found)[-1] == "All 10 verdicts were checked. Number of wrong ones: 1 (10.0 %)."
    published = bundle.digest_of(packed(graded("vstar"), "vstar"))
    words = ["verify", str(tmp_path / "x_bundle.zip"), "--seed", "s", "--data", str(data("vstar")), "-q"]
    assert run(words) == 1
    assert run([*words, "--digest", published]) == 1
    assert run([*words, "--digest", bundle.digest_of(content)]) == 1


def test_a_sample_that_is_called_unscored_is_checked_like_any_other(
    graded: Callable[[str], Path], tmp_path: Path
) -> None:
    def hidden(report: Report) -> Report:
        """The report of a publisher who calls the wrong answers lost, and right officially."""
        samples = []
        for sample in report.samples:
            official = msgspec.structs.replace(sample.official, outcome=Outcome.CORRECT, credit=1)
            careful = msgspec.structs.replace(sample.careful, outcome=Outcome.UNSCORED, credit=0)
            forged = msgspec.structs.replace(sample, official=official, careful=careful)
            samples.append(sample if sample.careful.credit else forged)
        lost = UnscoredCounts(careful=3)
        return msgspec.structs.replace(report, samples=samples, unscored=3, unscored_by_reading=lost)

    forged = edited(graded("vstar"), tmp_path / "forged", hidden)
    found = checked(packed(forged, "vstar"), tmp_path, "vstar")
    assert (found.verdicts, len(found.wrong), found.lost) == (10, 3, [])
    assert any("careful unscored -> " in line for line in in_words(found))
    lost = tmp_path / "lost"
    lost.mkdir()
    predictions = json.loads((graded("vstar") / "predictions.json").read_text())
    predictions[0]["predictions"] = ["Failed to obtain answer via API."]
    (lost / "predictions.json").write_text(json.dumps(predictions))
    assert run([str(lost / "predictions.json"), "-b", "vstar", "--data", str(data("vstar")), "-q"]) == 0
    found = checked(packed(lost, "vstar"), tmp_path, "vstar")
    assert (found.verdicts, found.wrong, found.lost) == (10, [], [])


def test_every_change_of_the_file_is_found(graded: Callable[[str], Path], tmp_path: Path) -> None:
    content = packed(graded("vstar"), "vstar")
    path = tmp_path / "x_bundle.zip"
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def again(members: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
        with zipfile.ZipFile(made := BytesIO(), "w", kind) as archive:
            for name, data in members.items():
                archive.writestr(zipfile.ZipInfo(name), data, compress_type=kind)
        return made.getvalue()

    changed = [
        content.replace(b'"sample": 0', b'"sample": 1', 1),
        b"#!/bin/sh\n" + content,
        again(members, zipfile.ZIP_DEFLATED),
        again(members | {"../../etc/passwd": b""}),
        again({name: data for name, data in members.items() if name != "predictions"}),
        again(dict(reversed(members.items()))),
    ]
    for one in changed:
        path.write_bytes(one)
        with pytest.raises(ChangedBundleError):
            bundle.read(path)
    for other in (b"[]", b"", again({"a": b""}), again(members | {"manifest.json": b"{}"})):
        path.write_bytes(other)
        with pytest.raises(InputError, match="not a bundle"):
            bundle.read(path)


def test_other_data_and_what_results_leave_out_are_refused(graded: Callable[[str], Path], tmp_path: Path) -> None:
    folder = graded("vstar")
    rows = [json.loads(line) for line in data("vstar").read_text().splitlines()]
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(row | {"label": "A"}) + "\n" for row in rows))
    with pytest.raises(InputError, match="other data of the benchmark"):
        checked(packed(folder, "vstar"), tmp_path, "vstar", data=other)

    def without_one(report: Report) -> Report:
        return msgspec.structs.replace(report, samples=report.samples[1:])

    with pytest.raises(InputError, match="not those that were graded"):
        packed(edited(folder, tmp_path / "first", without_one), "vstar")
    predictions = json.loads((folder / "predictions.json").read_text())
    fewer = tmp_path / "fewer"
    fewer.mkdir()
    (fewer / "predictions.json").write_text(json.dumps(predictions[:-1]))
    words = [str(fewer / "predictions.json"), "-b", "vstar", "--data", str(data("vstar")), "-q"]
    assert run([*words, "--missing", "wrong"]) == 0
    assert checked(packed(fewer, "vstar"), tmp_path, "vstar").verdicts == 9

    def without_the_missing(report: Report) -> Report:
        return msgspec.structs.replace(report, samples=report.samples[:-1])

    with pytest.raises(InputError, match="leave out 1 task, such as 9"):
        checked(packed(edited(fewer, tmp_path / "second", without_the_missing), "vstar"), tmp_path, "vstar")
    with pytest.raises(InputError, match="credit samples without a prediction"):
        packed(edited(fewer, tmp_path / "third", lambda report: credited(report, -1)), "vstar")


def test_judged_verdicts_need_the_judges_replies(graded: Callable[[str], Path], tmp_path: Path) -> None:
    folder, replies = graded("mmbench"), BENCHMARKS / "mmbench" / "sample" / "judge_replies.json"
    with pytest.raises(UsageError, match="--judge-replies"):
        checked(packed(folder, "mmbench"), tmp_path, "mmbench")
    results, shown = tmp_path / "v.json", tmp_path / "b_bundle.zip"
    shown.write_bytes(packed(folder, "mmbench", replies))
    words = ["verify", str(shown), "--seed", "s", "--data", str(data("mmbench")), "-q", "-o", str(results)]
    assert run(words) == 0
    assert json.loads(results.read_bytes())["drawn"] == 20


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_programs_are_executed_again_and_no_sandbox_is_no_check(
    graded: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed(graded("humaneval"), "humaneval")
    found = checked(content, tmp_path, "humaneval", count=2, sandbox="bubblewrap")
    assert (found.verdicts, found.drawn, found.wrong, found.lost) == (8, 2, [], [])
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    words = ["verify", str(tmp_path / "x_bundle.zip"), "--seed", "s", "--data", str(data("humaneval")), "-q"]
    assert run([*words, "--sandbox", "docker"]) == 3


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_invented_calls_are_wrong_and_impossible_limits_are_refused(
    graded: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = graded("humaneval")

    def all_calls_right(report: Report) -> Report:
        calls = Calls(n=99, same=99)
        return msgspec.structs.replace(
            report, samples=[msgspec.structs.replace(sample, calls=calls) for sample in report.samples]
        )

    forged = edited(folder, tmp_path / "calls", all_calls_right)
    found = checked(packed(forged, "humaneval"), tmp_path, "humaneval", count=2, sandbox="bubblewrap")
    assert len(found.wrong) == 2
    assert "right calls 99 of 99 -> " in found.wrong[0].what
    assert any(
        note.startswith("Limits of its programs, then and now: 3 s of CPU time and 1,024 MB") for note in found.notes
    )
    for number, (cpu, memory) in enumerate([(1e9, 1 << 30), (0, 1 << 30), (2, 1)]):

        def limited(report: Report, cpu: float = cpu, memory: int = memory) -> Report:
            assert report.provenance.sandbox is not None
            sandbox = msgspec.structs.replace(report.provenance.sandbox, cpu_seconds=cpu, memory_bytes=memory)
            return msgspec.structs.replace(
                report, provenance=msgspec.structs.replace(report.provenance, sandbox=sandbox)
            )

        with pytest.raises(InputError, match="impossible limits"):
            checked(packed(edited(folder, tmp_path / str(number), limited), "humaneval"), tmp_path, "humaneval")


def test_intervals_that_do_not_follow_from_the_samples_are_named(graded: Callable[[str], Path], tmp_path: Path) -> None:
    folder = edited(graded("vstar"), tmp_path / "new", lambda report: report)
    path = folder / "predictions_results.json"
    report = read_report(path)
    narrow = [msgspec.structs.replace(metric, ci95=(99.0, 100.0)) for metric in report.metrics]
    path.write_bytes(encode_report(msgspec.structs.replace(report, metrics=narrow)))
    notes = checked(packed(folder, "vstar"), tmp_path, "vstar").notes
    assert any(
        note.startswith("This version of grade computes other intervals") and "accuracy" in note for note in notes
    )
    assert checked(packed(graded("vstar"), "vstar"), tmp_path, "vstar").notes == []


def test_only_a_published_digest_shows_that_nothing_was_changed(
    graded: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = packed(graded("vstar"), "vstar")
    (tmp_path / "x_bundle.zip").write_bytes(content)
    words = ["verify", str(tmp_path / "x_bundle.zip"), "--seed", "s", "--data", str(data("vstar"))]
    assert run(words) == 0
    assert "its parts match each other; give the published digest with --digest" in capsys.readouterr().err
    assert run([*words, "--digest", bundle.digest_of(content)]) == 0
    assert "unchanged since its digest was published" in capsys.readouterr().err
    assert run(["verify", str(tmp_path / "x_bundle.zip"), "--seed", " ", "--data", str(data("vstar"))]) == 2
    assert run([*words, "-o", str(tmp_path / "found.csv")]) == 2
    assert "is written as .json" in capsys.readouterr().err


def test_the_draw_follows_from_digest_and_seed() -> None:
    keys = [(f"q{number}", sample) for number in range(50) for sample in range(4)]
    assert draw(keys, "d", "s", 20) == draw(keys[::-1], "d", "s", 40)[:20]
    drawn = {key for seed in range(60) for key in draw(keys, "d", str(seed), 20)}
    assert len(drawn) == len(keys)
    assert draw(keys, "d", "s", 20) != draw(keys, "e", "s", 20)
