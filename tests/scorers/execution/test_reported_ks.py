"""The ks that their samples allow."""

import pytest

from grader.errors import UsageError
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.metrics import reported_ks
from tests.tables import each


@each(
    ("ks", "counts", "k", "expected"),
    [
        ((), [1, 1], 3, (1,)),
        ((), [6, 6], 3, (1, 3)),
        ((), [6, 2], 3, (1,)),
        ((), [20], 10, (1, 10)),
        ((), [], 3, (1,)),
        ((5, 1, 5), [6], 3, (1, 5)),
    ],
)
def test_the_ks_are_those_asked_for_or_the_protocols_where_every_task_has_the_samples(
    ks: tuple[int, ...], counts: list[int], k: int, expected: tuple[int, ...]
) -> None:
    assert reported_ks(ks, {f"q{n}": count for n, count in enumerate(counts)}, ExecutionProtocol(k=k)) == expected


def test_a_k_that_some_task_has_too_few_samples_for_is_an_error_that_names_the_task() -> None:
    with pytest.raises(UsageError) as caught:
        reported_ks((1, 10), {"he0": 20, "he1": 6, "he2": 7}, ExecutionProtocol(k=10))
    assert str(caught.value) == (
        'pass@10 needs at least 10 samples of every task, and "he1" has only 6: '
        "there is no unbiased estimate. Give -k at most 6."
    )
