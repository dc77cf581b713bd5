"""Hint which benchmark the data and predictions look like, for users with a wrong `-b` or `--data`.

It only changes messages.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import msgspec

from grader.data.formats import column_names
from grader.errors import DataUnavailableError, GradeError, InputError
from grader.scorers import declarations, registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.predictions.file import PredictionFile

_MOST_IDS = 1_000
"""Number of ids to check."""
_SHARE = 0.9
"""Share of the ids that must match a benchmark's pattern."""


@contextlib.contextmanager
def suggest_other_benchmark(declared: Benchmark, file: PredictionFile, data: Path | None) -> Iterator[None]:
    """Add to an error about the data or the ids which other benchmark they look like."""
    try:
        yield
    except InputError as error:
        hint = _other_benchmark_hint(declared, file, data)
        raise InputError([*error.problems, hint]) if hint else error from None
    except DataUnavailableError as error:
        hint = _other_benchmark_hint(declared, file, data)
        raise DataUnavailableError(f"{error}\n{hint}") if hint else error from None


def _other_benchmark_hint(declared: Benchmark, file: PredictionFile, data: Path | None) -> str:
    """Return a question that suggests other benchmarks, or other data; empty if no other benchmark fits."""
    bundled = [benchmark for benchmark in declarations.bundled_benchmarks() if benchmark.id != declared.id]
    ids = [] if file.is_positional else [record.qid for record in file.records[:_MOST_IDS]]
    by_ids = [benchmark.id for benchmark in bundled if _ids_match(benchmark, ids)]
    # A benchmark of the user's own declares no pattern, so its ids cannot show that it is the wrong one.
    ids_may_match = not declared.id_pattern or _ids_match(declared, ids)
    by_data = _likelier_benchmarks(declared, bundled, data)
    if by_data:
        return _data_hint(declared, by_data, by_ids, ids_may_match=ids_may_match)
    if ids_may_match or not by_ids:
        return ""
    return f"The predictions look like those of {_names_and_question(by_ids)}"


def _likelier_benchmarks(declared: Benchmark, bundled: list[Benchmark], data: Path | None) -> list[str]:
    """Return the other benchmarks that fit the data's columns best; none if the declared one is among the best."""
    # One that declares no further column cannot fit better.
    others = [benchmark for benchmark in bundled if not _declared_columns(benchmark) <= _declared_columns(declared)]
    columns = _columns_in_data(data, [declared, *others])
    candidates = [benchmark for benchmark in (declared, *others) if _has_columns(benchmark, columns)]
    columns_by_id = {benchmark.id: _declared_columns(benchmark) & columns for benchmark in candidates}
    # One that has all of the data's columns that another one has, and more, fits better.
    likeliest = [
        benchmark_id
        for benchmark_id, names in columns_by_id.items()
        if not any(names < other_names for other_names in columns_by_id.values())
    ]
    return [] if declared.id in likeliest else likeliest


def _data_hint(declared: Benchmark, by_data: list[str], by_ids: list[str], *, ids_may_match: bool) -> str:
    """Return a question about data of other benchmarks. `ids_may_match`: the ids may be the declared one's."""
    by_both = [name for name in by_data if name in by_ids]
    if by_both and not ids_may_match:
        return f"The data and the predictions look like those of {_names_and_question(by_both)}"
    likeliest = by_both or by_data
    hint = f"The data looks like that of {_joined_by_or(likeliest)}"
    if declared.id_pattern and ids_may_match and not by_both:
        return f"{hint}, but the predictions look like those of {declared.id}: is --data right?"
    return f"{hint}: did you mean {_as_b_options(likeliest)}, or another --data?"


MOST_NAMED = 3
"""More benchmarks than this are named once, not also as options."""


def _joined_by_or(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _as_b_options(names: list[str]) -> str:
    return " or ".join(f"-b {name}" for name in names) if len(names) <= MOST_NAMED else "one of these (-b NAME)"


def _names_and_question(names: list[str]) -> str:
    """Return the benchmarks, and the question whether one of them was meant."""
    return f"{_joined_by_or(names)}: did you mean {_as_b_options(names)}?"


def _columns_in_data(data: Path | None, benchmarks: list[Benchmark]) -> set[str]:
    """Return the names of the data's columns, read as a table or in a scorer's own format."""
    if data is None:
        return set()
    with contextlib.suppress(GradeError, OSError, ValueError):
        return set(column_names(data))
    for benchmark in benchmarks:
        with contextlib.suppress(GradeError, OSError, ValueError):
            rows = registry.scorer(benchmark.scoring).load_scorer_rows(benchmark, benchmark.default_split, data)
            if rows is not None and rows.rows:
                return set(rows.rows[0])
    return set()


def _has_columns(declared: Benchmark, columns: set[str]) -> bool:
    """Whether the data has the benchmark's id and more than half of the other columns that it declares."""
    names = _declared_columns(declared)
    return declared.columns.id in columns and 2 * len(names & columns) > len(names)


def _declared_columns(declared: Benchmark) -> set[str]:
    """Return the names of the columns that a benchmark declares."""
    return {name for name in msgspec.to_builtins(declared.columns).values() if isinstance(name, str) and name}


def _ids_match(declared: Benchmark, ids: list[str]) -> bool:
    """Whether the ids match the benchmark's pattern; False if the benchmark declares no pattern."""
    if not declared.id_pattern or not ids:
        return False
    pattern = re.compile(declared.id_pattern)
    return sum(pattern.fullmatch(qid[:200]) is not None for qid in ids) >= _SHARE * len(ids)
