"""The thresholds of gates, parsed from the command line."""

from __future__ import annotations

import math
import re

import msgspec

from grader.errors import UsageError

_LINE = re.compile(r"(?P<name>[^:=\s]+)(?::(?P<group>[^=]+=.+))?=(?P<value>[^=]+)")
_DROP = re.compile(r"(?:(?P<name>[^:=\s]+)=)?(?P<value>[^=]+)")


class FailUnder(msgspec.Struct, frozen=True, kw_only=True):
    """`METRIC=V` or `METRIC:FIELD=LABEL=V`: the metric must be V or more."""

    name: str
    group: str | None
    value: float


class MaxDrop(msgspec.Struct, frozen=True, kw_only=True):
    """`V` or `METRIC=V`: the metric must be at most V points below the baseline's."""

    name: str | None
    """None: the report's first metric."""
    value: float


def parse_fail_under(text: str) -> FailUnder:
    """Parse `METRIC=V` or `METRIC:FIELD=LABEL=V`. Raises UsageError."""
    found = _LINE.fullmatch(text.strip())
    value = _number(found["value"]) if found else None
    if found is None or value is None:
        raise UsageError(f"{text!r}: write it like accuracy=80, or accuracy:category=relative_position=75.")
    if abs(value) > 100:
        raise UsageError(f"{text!r}: metrics are percentages, from 0 to 100, so a threshold cannot be {value:.10g}.")
    if 0 < value < 1:
        raise UsageError(
            f"{text!r}: metrics are percentages, from 0 to 100. Write {100 * value:.10g} if you mean "
            f"{100 * value:.10g} %."
        )
    return FailUnder(name=found["name"], group=found["group"], value=value)


def parse_max_drop(text: str) -> MaxDrop:
    """Parse `V` or `METRIC=V`. Raises UsageError."""
    found = _DROP.fullmatch(text.strip())
    value = _number(found["value"]) if found else None
    if found is None or value is None or not 0 <= value < 1000:
        raise UsageError(f"{text!r}: write it like 2 or pass@1=2, in points, not below 0.")
    return MaxDrop(name=found["name"], value=value)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
