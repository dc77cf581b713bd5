"""Programs that return plain values of less common types."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
    honest(
        "match-of-a-pattern",
        """
        import re
        def solution(x):
            return re.search(r"(\\w+)@(\\w+)", x)
        """,
        "found = solution('to ann@home')\nassert found and found.group(1) == 'ann' and found.span() == (3, 11)\n"
        "assert found.groups() == ('ann', 'home')\nassert not solution('nothing')",
    ),
    honest(
        "decimal-and-fraction",
        """
        from decimal import Decimal
        from fractions import Fraction
        def solution(x):
            return Fraction(1, x), Decimal(1) / Decimal(x), Fraction(1, x) + 1
        """,
        "from fractions import Fraction\nfrom decimal import Decimal\n"
        "assert solution(4) == (Fraction(1, 4), Decimal('0.25'), 1.25)",
    ),
    honest(
        "dates-and-durations",
        """
        from datetime import datetime, timedelta, timezone
        def solution(x):
            start = datetime(2024, 2, 28, tzinfo=timezone.utc)
            return start + timedelta(days=x)
        """,
        "from datetime import date, timedelta\nassert solution(1).date() == date(2024, 2, 29)\n"
        "assert solution(2) - solution(0) == timedelta(days=2)",
    ),
    honest(
        "odd-numbers-of-every-kind",
        """
        def solution(x):
            return [float("nan"), -0.0, float("inf"), 2 ** 200, complex(x, -1), True]
        """,
        """
        import math
        nan, zero, infinite, big, pair, truth = solution(3)
        assert math.isnan(nan) and math.copysign(1, zero) == -1
        assert infinite > 1e308 and big == 2 ** 200 and pair == 3 - 1j and truth is True
        """,
    ),
]
