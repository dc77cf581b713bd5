"""Writing, reading and checking of results files. Files of schema 1 can be read too."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from grader import resources
from grader.errors import InputError
from grader.files.given import read_given
from grader.results import READINGS, SCHEMA, Outcome, Part, Report, SampleResult, count_unscored
from grader.results.provenance import ids_hash

if TYPE_CHECKING:
    from pathlib import Path

_JUDGE_COUNTS = ("questions", "calls", "cached", "failed", "prompt_tokens", "completion_tokens")
_RENAMED = {
    "sandbox_identity": "identity",
    "sandbox_image": "image",
    "docker_engine": "engine",
    "runtime": "runtime",
    "sandbox_python": "python",
    "sandbox_user": "user",
    "workers": "workers",
    "cpu_seconds": "cpu_seconds",
    "memory_bytes": "memory_bytes",
    "programs": "programs",
    "distinct_programs": "distinct_programs",
    "verdicts_from_cache": "verdicts_from_cache",
}
"""Name in the `environment` of schema 1 -> name in the sandbox's provenance."""
_FULL = (Outcome.PASSED, Outcome.CORRECT)
"""The outcomes with full credit; others have none, or a part."""
_COMMON = ("grade", "python", "data", "data_digest", "predictions", "predictions_digest", "intervals")


def encode_report(report: Report) -> bytes:
    """Return the results file's bytes (UTF-8 JSON, indented, newline-terminated)."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def decode_report(data: bytes) -> Report:
    """Parse a results file. Raises `msgspec.ValidationError` with a `$.path` if it is invalid."""
    if _schema(data) == 1:
        return _from_schema_1(data)
    # Without white space, the scorers' raw facts are equal in new reports and in reports read from a file.
    return msgspec.json.decode(msgspec.json.format(data, indent=-1), type=Report)


def read_report(path: Path) -> Report:
    """Read a results file, with its protocol's present name. Raises InputError if it is invalid, or inconsistent."""
    data = b""
    try:
        data = read_given(path)
        report = decode_report(data)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror or error}"]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if _schema(data) not in (None, 1, SCHEMA):
            raise _another_schema(path, _schema(data)) from error
        hint = "; give the `_results.json` that grading wrote" if "_results" not in path.name else ""
        raise InputError([f"{path}: not a results file ({error}){hint}"]) from error
    if report.schema != SCHEMA:
        raise _another_schema(path, report.schema)
    problems = _contradictions(report)
    if problems:
        shown = [f"{path}: {problem}" for problem in problems[:20]]
        raise InputError([*shown, "Grading never writes this: the file was changed. Grade the predictions again."])
    return msgspec.structs.replace(report, protocol=_present_name(report.benchmark, report.protocol))


class _Version(msgspec.Struct):
    formerly: list[str] = []


class _Declared(msgspec.Struct):
    protocols: dict[str, _Version]


def _present_name(benchmark: str, protocol: str) -> str:
    """Return the name that a protocol of a bundled benchmark has now."""
    if benchmark not in resources.bundled_benchmarks():
        return protocol
    declaration = resources.folder("benchmarks") / benchmark / "benchmark.toml"
    protocols = msgspec.toml.decode(declaration.read_bytes(), type=_Declared).protocols
    return next((name for name, version in protocols.items() if protocol in version.formerly), protocol)


def _schema(data: bytes) -> int | None:
    class Head(msgspec.Struct):
        schema: int

    try:
        return msgspec.json.decode(data, type=Head).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _another_schema(path: Path, schema: int | None) -> InputError:
    return InputError([f"{path}: $.schema: {schema}; this version of grade reads 1 and {SCHEMA}"])


def _contradictions(report: Report) -> list[str]:
    """Return contradictions that no scorer produces, and that would make comparisons and gates meaningless."""
    problems = []
    places = Counter((sample.qid, sample.sample) for sample in report.samples)
    for at, sample in enumerate(report.samples):
        if sample.sample < 0:
            problems.append(f"$.samples[{at}].sample: {sample.sample} is not a valid position; positions begin at 0")
        if places[sample.qid, sample.sample] > 1:
            problems.append(f"$.samples[{at}]: {sample.qid!r} sample {sample.sample} is a duplicate")
        problems += _credit_problems(at, sample)
    either, counts = count_unscored(report.samples)
    if report.unscored != either:
        problems.append(f"$.unscored: {report.unscored}, but {either} samples are unscored")
    elif report.unscored_by_reading != counts:
        problems.append(f"$.unscored_by_reading: official {counts.official} and careful {counts.careful} are unscored")
    return problems


def _credit_problems(at: int, sample: SampleResult) -> list[str]:
    problems = []
    for name in READINGS:
        reading = sample.reading(name)
        if not 0 <= reading.credit <= 1:
            problems.append(f"$.samples[{at}].{name}.credit: {reading.credit} is not between 0 and 1")
        elif (reading.credit == 1) != (reading.outcome in _FULL) and reading.credit in (0, 1):
            problems.append(f"$.samples[{at}].{name}: {reading.outcome.value} with credit {reading.credit:g}")
    return problems


# --- schema 1 ---------------------------------------------------------------------------------------------------


class _OldReport(Report, frozen=True, kw_only=True):
    """A report of schema 1, whose provenance is one untyped table."""

    environment: dict[str, Any] = {}


def _from_schema_1(data: bytes) -> Report:
    """Convert a report of schema 1 to schema 2. Raises msgspec.ValidationError."""
    old = msgspec.json.decode(data, type=_OldReport)
    facts = dict(old.environment)
    provenance: dict[str, Any] = {name: facts.pop(name) for name in _COMMON if name in facts}
    if isinstance(method := provenance.get("intervals"), dict):
        means = method.pop("other means", method.pop("method", ""))
        provenance["intervals"] = {**method, "means": means}
    provenance["data_is_carried"] = str(provenance.get("data", "")).endswith("(its own questions)")
    if "judge" in facts:
        provenance["judge"] = _old_judge(facts.pop("judge"))
    if "sandbox" in facts:
        sandbox = {new: facts.pop(name) for name, new in _RENAMED.items() if name in facts}
        provenance["sandbox"] = {"backend": facts.pop("sandbox"), **sandbox}
    apart: dict[str, Any] = {"provenance": provenance}
    apart |= {name: facts.pop(name) for name in ("baselines", "abbreviations") if name in facts}
    typed = msgspec.convert(apart, type=_Made)
    known = {"schema", "facts", "provenance", "baselines", "abbreviations", "unscored_by_reading"}
    same: dict[str, Any] = {name: getattr(old, name) for name in Report.__struct_fields__ if name not in known}
    same["part"] = _old_part(old)
    return Report(
        **same,
        provenance=typed.provenance,
        baselines=typed.baselines,
        abbreviations=typed.abbreviations,
        unscored_by_reading=count_unscored(old.samples)[1],
        facts=msgspec.Raw(msgspec.json.encode(facts)) if facts else msgspec.UNSET,
    )


_OLD_PART = re.compile(r"Only a part: --limit or --id leaves (\d+) of (\d+) qids\.")


def _old_part(old: _OldReport) -> Part | None:
    """Return the graded part, which schema 1 only states in a note."""
    found = next((match for note in old.notes if (match := _OLD_PART.fullmatch(note))), None)
    if found is None:
        return None
    return Part(n=int(found[1]), of=int(found[2]), ids_hash=ids_hash({sample.qid for sample in old.samples}))


class _Made(Report, frozen=True, kw_only=True):
    """The fields that are typed in schema 2, and were part of one table in schema 1."""

    benchmark: str = ""
    split: str = ""
    protocol: str = ""
    metrics: list[Any] = []
    samples: list[Any] = []


def _old_judge(judge: object) -> dict[str, object]:
    """Return a judge's provenance; in schema 1 it is a text, or a table for an endpoint."""
    if not isinstance(judge, dict):
        return {"source": str(judge)}
    counts = {name: judge[name] for name in _JUDGE_COUNTS if name in judge}
    named = {name: str(judge[name]) for name in ("model", "endpoint") if name in judge}
    return {"source": "endpoint", **named, **counts}
