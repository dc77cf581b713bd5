"""A bundle: all that somebody else needs to check a result, in one file with one digest.

It is a zip archive without compression and without times, so that the same content always has the same bytes. Its
digest is published with the result. Nothing of a bundle is extracted under a name that the bundle chose.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import ChangedBundleError, InputError, UsageError
from grader.files.given import read_given
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.predictions.select import is_fingerprint
from grader.regrading.again import key_of
from grader.results import Report
from grader.scorers import declarations
from grader.scorers.earlier import read_report

if TYPE_CHECKING:
    from grader.benchmark import Benchmark

ENDING = "_bundle.zip"
MANIFEST, RESULTS, PREDICTIONS, REPLIES = "manifest.json", "results.json", "predictions", "judge_replies.json"
_CHANGED = "This is not the bundle that was published: it was changed, or damaged on its way."


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says of itself."""

    bundle: int = 1
    """Version of this format."""
    grade: str
    """Version of grade that graded."""
    declaration: str
    """A hash of all that the benchmark.toml declares."""
    members: dict[str, str]
    """Name -> SHA-256 of each other member."""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle after reading, whose parts belong together."""

    digest: str
    manifest: Manifest
    report: Report
    file: PredictionFile
    replies: bytes | None
    """Recorded replies of the judge."""


def declaration_digest(declared: Benchmark) -> str:
    """Return a hash of all that a benchmark.toml declares."""
    content = msgspec.json.encode(msgspec.structs.replace(declared, folder="", bundled=False), order="sorted")
    return hashlib.sha256(content).hexdigest()[:16]


def digest_of(data: bytes) -> str:
    """Return the digest by which a bundle is published."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def make(results: Path, predictions: Path, replies: Path | None, declared: Benchmark) -> bytes:
    """Return the bundle of a run. Raises InputError, UsageError if these are not the files of one run."""
    report = read_report(results)
    if not report.samples:
        raise UsageError(f"{results}: no samples, so there is no verdict to check.")
    check_predictions(report, read_predictions(predictions), str(predictions))
    members = {RESULTS: results.read_bytes(), PREDICTIONS: read_given(predictions)}
    if replies is not None:
        members[REPLIES] = read_given(replies)
    manifest = Manifest(
        grade=report.provenance.grade,
        declaration=declaration_digest(declared),
        members={name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    )
    return _packed(manifest, members)


def _packed(manifest: Manifest, members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {MANIFEST: msgspec.json.encode(manifest), **members}.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            archive.writestr(entry, content)
    return packed.getvalue()


def read(path: Path, published: str | None = None) -> Bundle:
    """Read a bundle. Raises InputError if it is none, ChangedBundleError if it is not as it was when it was made."""
    data = path.read_bytes()
    digest = digest_of(data)
    if published is not None and digest != f"sha256:{published.strip().lower().removeprefix('sha256:')}":
        raise ChangedBundleError(f"{path} has the digest {digest}, not {published}. {_CHANGED}")
    manifest, members = _unpacked(path, data)
    with tempfile.TemporaryDirectory(prefix="grade-bundle-") as folder:
        results, predictions = Path(folder, RESULTS), Path(folder, PREDICTIONS)
        results.write_bytes(members[RESULTS])
        predictions.write_bytes(members[PREDICTIONS])
        try:
            report, file = read_report(results), read_predictions(predictions)
        except InputError as error:
            raise InputError([each.replace(f"{folder}/", f"{path}: ") for each in error.problems]) from error
    check_predictions(report, file, str(path))
    places = [record.where.replace(f"{folder}/", f"{path}: ") for record in file.records]
    records = [msgspec.structs.replace(record, where=at) for record, at in zip(file.records, places, strict=True)]
    file = msgspec.structs.replace(file, name=report.provenance.predictions, path=None, records=records)
    return Bundle(digest=digest, manifest=manifest, report=report, file=file, replies=members.get(REPLIES))


def _unpacked(path: Path, data: bytes) -> tuple[Manifest, dict[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            # What is stored as it is cannot be larger than the file.
            if any(entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(data) for entry in entries):
                raise ChangedBundleError(f"{path}: a member is compressed. {_CHANGED}")
            members = {entry.filename: archive.read(entry) for entry in entries if entry.filename != MANIFEST}
            manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (zipfile.BadZipFile, KeyError, msgspec.DecodeError, NotImplementedError, RuntimeError) as error:
        if "CRC" in str(error):
            raise ChangedBundleError(f"{path}: {error}. {_CHANGED}") from error
        raise InputError([f"{path}: not a bundle of `grade bundle` ({error})"]) from error
    if manifest.bundle != 1:
        raise InputError([f"{path}: a bundle of version {manifest.bundle}; this version of grade reads 1"])
    found = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    different = [name for name in {*found, *manifest.members} if found.get(name) != manifest.members.get(name)]
    if different or not {RESULTS, PREDICTIONS} <= found.keys() <= {RESULTS, PREDICTIONS, REPLIES}:
        raise ChangedBundleError(f"{path}: {', '.join(sorted(different or found))}: not as listed. {_CHANGED}")
    if _packed(manifest, members) != data:
        raise ChangedBundleError(f"{path}: it has more than its members, or in another order. {_CHANGED}")
    return manifest, members


def check_predictions(report: Report, file: PredictionFile, place: str) -> None:
    """Raise InputError unless these predictions are the graded ones, and each has one sample."""
    texts = {record.qid: record.predictions for record in file.records}
    qids = dict.fromkeys(sample.qid for sample in report.samples)
    made_of = report.provenance.predictions_digest
    if made_of is None or not is_fingerprint(made_of, {qid: texts.get(qid, []) for qid in qids}):
        raise InputError([f"{place}: the predictions are not those that were graded; grade them again"])
    there = {(qid, number) for qid in qids for number in range(len(texts.get(qid, [])))}
    if absent := there - {key_of(sample) for sample in report.samples}:
        raise InputError([f"{place}: the results leave out {len(absent)} predictions, such as one of {min(absent)[0]}"])
    if any(sample.official.credit or sample.careful.credit for sample in report.samples if key_of(sample) not in there):
        raise InputError([f"{place}: the results credit samples without a prediction"])


def declared_for(report: Report, benchmark: str | None) -> Benchmark:
    """Return the declaration of a report's benchmark. Raises InputError, UsageError if it is of another one."""
    declared = declarations.load(declarations.id_or_folder(report, benchmark))
    if declared.id != report.benchmark:
        raise UsageError(f"-b {benchmark} is {declared.id}; the results are of {report.benchmark}.")
    return declared
