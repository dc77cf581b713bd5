"""The arguments of MBPP+ that JSON has not, as EvalPlus 0.3.1 makes them (`mbpp_deserialize_inputs`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def _tuples_at(depth: int) -> Callable[[Any], Any]:
    """Return a function that makes tuples of the lists at a depth: at depth 1, `[[1, 2]]` becomes `[(1, 2)]`."""
    if depth == 0:
        return tuple
    return lambda value: [_tuples_at(depth - 1)(item) for item in value]


def _tuples_at_all_depths(value: Any) -> Any:
    return tuple(map(_tuples_at_all_depths, value)) if isinstance(value, list) else value


def _tuples_at_two_depths(inputs: list[Any]) -> list[Any]:
    return [tuple(tuple(item) if isinstance(item, list) else item for item in value) for value in inputs]


_TASKS_OF_RESTORER: dict[Callable[[list[Any]], Any], tuple[int, ...]] = {
    _tuples_at(1): (
        2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809,
    ),
    _tuples_at(2): (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    lambda args: [_tuples_at(1)(args[0]), args[1]]: (75, 413, 444, 753),
    lambda args: [args[0], tuple(args[1])]: (106, 750),
    lambda args: [[set(item) if isinstance(item, list) and item else {} for item in args[0]]]: (115,),
    lambda args: [float(args[0]), complex(args[1])]: (124,),
    lambda args: [tuple(args[0]), args[1]]: (250, 405, 446, 617, 720, 763, 808),
    lambda args: [tuple(tuple(item) for item in value) for value in args]: (259, 401, 445),
    _tuples_at_two_depths: (278,),
    lambda args: [tuple(args[0]), args[1], args[2]]: (307,),
    lambda args: [{key: tuple(value) for key, value in args[0].items()}, *args[1:]]: (722,),
    lambda args: [complex(args[0])]: (252,),
    _tuples_at_all_depths: (580, 615, 791),
}  # fmt: skip
"""What turns the lists of JSON into the arguments of MBPP+ -> the numbers of its tasks."""
_RESTORERS = {f"Mbpp/{number}": restore for restore, numbers in _TASKS_OF_RESTORER.items() for number in numbers}


def arguments_of(qid: str, args: list[Any]) -> list[Any]:
    """Return the arguments of one call as the task means them."""
    return list(_RESTORERS[qid](args)) if qid in _RESTORERS else args
