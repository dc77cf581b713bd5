"""The inputs of a task, and the outputs that are expected, as the data's row has them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.files.json_text import describe_value
from grader.files.packed import unpack_text
from grader.files.python_source import tree_from
from grader.scorers.execution.extraction import defined_names
from grader.scorers.execution.inputs import evalplus

if TYPE_CHECKING:
    from grader.data.tables import Row
    from grader.scorers.execution.declaration import ExecutionColumns


MAX_INPUT_BYTES, MAX_OUTPUT_BYTES = 16 << 20, 4_000_000
"""Bytes of a standard input that a run can have, and of an output that is read, as in the sandbox."""

MAX_DIGITS = 4300
"""Python converts no longer text to an integer."""


class BadRowError(ValueError):
    """Raised if a row has no cases; the text says what is wrong with it."""


class Cases(msgspec.Struct, frozen=True, kw_only=True):
    """What every program of a task is asked, and what is expected of it."""

    inputs: tuple[Any, ...]
    """Texts of the standard input; with a `function`, lists of its arguments."""
    outputs: tuple[Any, ...] | None
    """None: the answers of the reference solution are expected."""
    function: str = ""
    base_count: int = 0
    """Number of inputs at the beginning that are judged also by themselves; 0: none are."""
    tolerance: float = 0.0
    is_mbpp: bool = False
    """Whether the row's id is one of MBPP+, for which EvalPlus has exceptions. In a pool, the task has another id."""
    checker: str = ""
    """Python source that defines `check(input, output, expected)`; empty: the protocol's comparison decides."""

    def displayed_input(self, number: int) -> str:
        """Return an input for people: the text, or the call as source."""
        content = self.inputs[number]
        return f"{self.function}({', '.join(map(_source_of, content))})" if self.function else str(content)


class ExpectedAnswers(NamedTuple):
    """What is expected of a task's programs."""

    answers: tuple[str, ...]
    """Printed texts, or messages with what a function returns."""
    reference_seconds: float = 0.0
    """CPU time that a reference solution needed for the input that takes longest; 0: there is none."""
    by_side_effect: bool = False
    """Whether the function returns nothing: then its changed arguments and what it prints are the answer."""


def read_cases(row: Row, columns: ExecutionColumns, checker: str = "") -> Cases:
    """Return the cases of a row; raises BadRowError. `checker`: that of tasks without one of their own."""
    inputs, outputs = _raw_cases(row, columns)
    function = _function_name(row, columns)
    if function:
        inputs, outputs = _arguments_and_values(inputs, outputs, columns)
    else:
        inputs = _with_joined_lines(inputs)
        outputs = None if outputs is None else _with_joined_lines(outputs)
        _check_texts(columns.inputs, inputs, MAX_INPUT_BYTES)
        _check_texts(columns.outputs, outputs or [], MAX_OUTPUT_BYTES)
    base_count = 0
    if columns.more_inputs is not None:  # as EvalPlus' data
        base_count = len(inputs)
        inputs = [*inputs, *_parse_list(row, columns.more_inputs)]
        inputs = [evalplus.arguments_of(str(row[columns.id]), arguments) for arguments in inputs]
    if not inputs:
        raise BadRowError(f"column {columns.inputs} is an empty list, so nothing would be tested")
    if outputs is not None and len(inputs) != len(outputs):
        unequal = f"{len(inputs)} inputs in column {columns.inputs}, {len(outputs)} outputs in column {columns.outputs}"
        raise BadRowError(f"{unequal}: each input needs one output")
    checker = _parse_checker(row.get(columns.checker or "") or checker)
    if checker and (function or outputs is None):
        raise BadRowError("it has a checker, but no expected printed outputs, which a checker needs")
    return Cases(
        inputs=tuple(inputs),
        outputs=None if outputs is None else tuple(outputs),
        function=function,
        base_count=base_count,
        tolerance=float(row.get(columns.tolerance or "") or 0.0),
        is_mbpp=str(row[columns.id]).startswith("Mbpp/"),
        checker=checker,
    )


def _source_of(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits, but its hexadecimal digits.
        return hex(value) if isinstance(value, int) else "<a value with long integers>"


def _with_joined_lines(texts: list[Any]) -> list[Any]:
    """Return texts. APPS, TACO, verl and LiveCodeBench join a list of lines by line ends."""
    return [
        "\n".join(text) if isinstance(text, list) and all(isinstance(line, str) for line in text) else text
        for text in texts
    ]


def _raw_cases(row: Row, columns: ExecutionColumns) -> tuple[list[Any], list[Any] | None]:
    """Return the inputs and outputs as the row has them; outputs are None if the solution's answers are expected."""
    if not columns.cases:
        inputs = _parse_list(row, columns.inputs or "")
        return inputs, _parse_list(row, columns.outputs or "") if _needs_outputs(row, columns) else None
    cases = [case for name in columns.cases for case in _as_list(_unpack_column(row.get(name), name), name)]
    for number, case in enumerate(cases, 1):
        if not isinstance(case, dict) or not {"input", "output"} <= case.keys():
            raise BadRowError(f"item {number} of {', '.join(columns.cases)} has no `input` and `output`")
        if case.get("testtype") == "functional" and not _function_name(row, columns):
            column = columns.function or columns.entry_point
            problem = f"column {column} does not name it" if column else "`function` names no column with its name"
            raise BadRowError(f"its cases call a function, but {problem}")
    return [case["input"] for case in cases], [case["output"] for case in cases]


def _needs_outputs(row: Row, columns: ExecutionColumns) -> bool:
    """Whether the row's outputs are expected. A row with a solution may lack them: then its answers are expected."""
    if columns.outputs is None:
        return False
    has_solution = bool(row.get(columns.solution or ""))
    return value_at(row, columns.outputs) is not None or not has_solution


def _unpack_column(value: Any, name: str) -> Any:
    try:
        return unpack_text(value)
    except ValueError as error:
        raise BadRowError(f"column {name} is {error}") from None


def value_at(row: Row, name: str) -> Any:
    """Return the value of a column, or of `column.field`: a field of an object or of JSON; raises BadRowError."""
    value: Any = row
    for part in [name] if name in row else name.split("."):
        if isinstance(value, str):
            try:
                value = json.loads(value, parse_int=_parse_integer)
            except (ValueError, RecursionError) as error:
                raise BadRowError(f"column {name.partition('.')[0]} is not JSON ({error})") from None
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _function_name(row: Row, columns: ExecutionColumns) -> str:
    """Return the name of the function to call; empty for a program that reads standard input."""
    name = value_at(row, columns.function or columns.entry_point or "")
    if name in (None, ""):
        return ""
    if not isinstance(name, str) or not name.isidentifier():
        raise BadRowError(f"column {columns.function or columns.entry_point} has no name of a function: {name!r:.60}")
    return name


def _arguments_and_values(
    inputs: list[Any], outputs: list[Any] | None, columns: ExecutionColumns
) -> tuple[list[Any], list[Any] | None]:
    """Return arguments and values. Inputs that are texts have one JSON value a line, and their outputs are JSON."""
    if not any(isinstance(arguments, str) for arguments in inputs):
        for number, arguments in enumerate(inputs, 1):
            if not isinstance(arguments, list):
                what = describe_value(arguments)
                raise BadRowError(f"column {columns.inputs}: item {number} is {what}, not a list of arguments")
        return inputs, outputs
    _check_texts(columns.inputs, inputs)
    _check_texts(columns.outputs, outputs or [])
    try:
        calls = [[_parse_json(line) for line in text.split("\n")] for text in inputs]
        return calls, None if outputs is None else [_parse_json(text) for text in outputs]
    except (ValueError, RecursionError) as error:
        raise BadRowError(f"an input or output of {columns.inputs} is not JSON ({error})") from None


def _parse_json(text: str) -> Any:
    """Return a value that is given as JSON; raises ValueError, also for NaN and infinity, which JSON does not have."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not a JSON number")

    return json.loads(text, parse_constant=refuse, parse_int=_parse_integer)


def _parse_integer(digits: str) -> int:
    # Python reads no more digits at once.
    return int(digits) if len(digits) <= MAX_DIGITS else int(Decimal(digits))


def _check_texts(name: str | None, texts: list[Any], max_bytes: float = float("inf")) -> None:
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise BadRowError(f"column {name}: item {number} is {describe_value(text)}, not a text")
        # A character has at most four bytes, so most texts need not be encoded.
        if 4 * len(text) > max_bytes and len(text.encode("utf-8", "surrogatepass")) > max_bytes:
            raise BadRowError(
                f"column {name}: item {number} has more than {max_bytes:,} bytes, the most that a program can read"
            )


def _parse_list(row: Row, name: str) -> list[Any]:
    return _as_list(value_at(row, name), name)


def _as_list(value: Any, name: str) -> list[Any]:
    """Return the list in a column, also if it is given as JSON text; raises BadRowError."""
    if value == {}:  # MBPP+ has one
        return []
    if isinstance(value, str):
        try:
            value = _parse_json(value)
        except (ValueError, RecursionError) as error:
            raise BadRowError(f"column {name} is a text, but not a list in JSON ({error})") from None
    if not isinstance(value, (list, tuple)):
        raise BadRowError(
            f"no list in column {name}" if value is None else f"column {name} is {describe_value(value)}, not a list"
        )
    return list(value)


def _parse_checker(value: object) -> str:
    if not isinstance(value, str):
        raise BadRowError(f"the checker is {describe_value(value)}, not Python source")
    try:
        tree = tree_from(value)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadRowError(f"the checker is invalid Python: {error}") from None
    if value and "check" not in defined_names(tree):
        raise BadRowError("the checker defines no function check(input, output, expected)")
    return value
