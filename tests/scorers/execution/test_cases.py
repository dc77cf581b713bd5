"""Cases in the data: packed ones may contain no code; the names of comparisons."""

import base64
import json
import os
import pickle
import zlib

import msgspec
import pytest

from grader.files.packed import unpack_text
from grader.scorers.execution.comparison_names import comparisons_of
from grader.scorers.execution.declaration import ExecutionColumns
from grader.scorers.execution.inputs.cases import BadRowError, read_cases
from tests.tables import each


class _Code:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made-by-a-pickle",)


def _packed(value: object) -> str:
    return _compressed(pickle.dumps(value))


def _compressed(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


SIZES = (
    b"\x80\x04Nr\xff\xff\xff\x7f.",
    b"\x80\x05\x96" + b"\xff" * 7 + b"\x0f.",
    b"\x80\x04\x8e" + b"\xff" * 7 + b"\x0f.",
)
"""Pickles that name a memo, a bytearray and bytes of a size that they do not have."""


def test_a_packed_text_is_read_and_packed_code_is_refused() -> None:
    text = json.dumps([{"input": "1", "output": "2"}])
    assert unpack_text(_packed(text)) == text
    for value in (_packed(_Code()), "not packed!", _packed(text)[:-8], *map(_compressed, SIZES)):
        with pytest.raises(ValueError, match="neither JSON nor a packed text without code"):
            unpack_text(value)


def test_each_reading_has_its_comparison() -> None:
    assert comparisons_of("exact", "") == ("exact", "trimmed")
    assert comparisons_of("evalplus", "near:1e-6") == ("lines", "near:1e-6")


def test_a_list_of_lines_is_joined_by_line_ends() -> None:
    row = {"id": "a", "i": [["1", "2 3"], "4\n"], "o": [["5"], "4"]}
    cases = read_cases(row, ExecutionColumns(id="id", question="", inputs="i", outputs="o"))
    assert (cases.inputs, cases.outputs) == (("1\n2 3", "4\n"), ("5", "4"))


@each("as_text", [False, True])
def test_inputs_may_be_fields_of_a_column_with_objects_or_json(as_text: bool) -> None:
    columns = ExecutionColumns(id="id", inputs="io.inputs", outputs="io.outputs", function="io.fn")
    found = {"inputs": [[1], [2]], "outputs": [2, 4], "fn": "twice"}
    cases = read_cases({"id": "q1", "io": json.dumps(found) if as_text else found}, columns)
    assert (cases.inputs, cases.outputs, cases.function) == (([1], [2]), (2, 4), "twice")
    with pytest.raises(BadRowError, match="column io is not JSON"):
        read_cases({"id": "q1", "io": "inputs"}, columns)
    with pytest.raises(BadRowError, match="no list in column io"):
        read_cases({"id": "q1", "io": {}}, columns)


def test_cases_that_call_a_function_which_no_column_names_are_refused() -> None:
    """Otherwise, programs would get the inputs as text on standard input, and none would be right."""
    columns = ExecutionColumns(id="id", question="", cases=["cases"], function="metadata.func_name")
    row = {"id": "a", "cases": [{"input": "1", "output": "2", "testtype": "functional"}], "metadata": "{}"}
    with pytest.raises(BadRowError, match=r"call a function, but column metadata\.func_name does not name it"):
        read_cases(row, columns)
    with pytest.raises(BadRowError, match="call a function, but `function` names no column"):
        read_cases(row, msgspec.structs.replace(columns, function=None))
    assert read_cases(row | {"metadata": '{"func_name": "twice"}'}, columns).function == "twice"
