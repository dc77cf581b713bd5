"""Rows as data sets publish them, as rows of `Pool(benchmark="rows")`: one function for each shape.

Every function takes a row of a data set (or the part of it that has the tests, also as JSON) and returns a row of grade
with `tests`, or with `inputs` and `outputs`. It raises UsageError for a row of another shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from grader.errors import UsageError
from grader.files.packed import unpack_text

Row = Mapping[str, Any]


def inputs_outputs(row: Row | str) -> dict[str, Any]:
    """Convert a row with `inputs` and `outputs`, and `fn_name` for functions: APPS, TACO, and what verl passes on.

    Outputs of functions may stand in a list of one, as in APPS: if all do, they are taken out of it.
    """
    row = _mapping(row, "inputs", "outputs")
    cases = {"inputs": _items(row, "inputs"), "outputs": _items(row, "outputs")}
    function = row.get("fn_name")
    if not function:
        return cases
    if cases["outputs"] and all(isinstance(output, list) and len(output) == 1 for output in cases["outputs"]):
        cases["outputs"] = [output[0] for output in cases["outputs"]]
    return cases | {"function": function}


def any_of(row: Row | str) -> dict[str, Any]:
    """Convert a row of any shape here, or one that has the columns of grade already.

    A row of any other shape is returned as it is. It makes its sample unscored, with the reason.
    """
    row = _mapping(row)
    for name, shape in _BY_COLUMN.items():
        if row.get(name) is not None:
            return shape(row)
    return row


def code_contests(row: Row) -> dict[str, Any]:
    """Convert a row with `public_tests`, `private_tests`, `generated_tests`, each `{"input": [], "output": []}`."""
    names = [name for name in ("public_tests", "private_tests", "generated_tests") if row.get(name)]
    if not names:
        raise UsageError("the row has no public_tests, private_tests or generated_tests")
    parts = [_mapping(row[name], "input", "output") for name in names]
    return {
        "inputs": [text for part in parts for text in _items(part, "input")],
        "outputs": [text for part in parts for text in _items(part, "output")],
    }


def prime_intellect(row: Row) -> dict[str, Any]:
    """Convert a row whose `verification_info` has `test_cases`, each `{"type", "input", "output", "fn_name"}`."""
    info = _mapping(row.get("verification_info", row), "test_cases")
    cases = [_mapping(case, "input", "output") for case in _items(info, "test_cases")]
    functions = [case.get("fn_name") for case in cases]
    if any(name != functions[0] for name in functions):
        raise UsageError("its test cases call different functions")
    converted = {"inputs": [case["input"] for case in cases], "outputs": [case["output"] for case in cases]}
    function = functions[0] if functions else None
    if not function and any(case.get("type") == "function_call" for case in cases):
        raise UsageError("its test cases call a function, but have no fn_name")
    # `inputs_outputs` also takes a function's outputs out of lists of one.
    return inputs_outputs(converted | {"fn_name": function}) if function else converted


def assert_case(row: Row | str) -> dict[str, Any]:
    """Convert a row with `assert_case`, a list of assertions or a text, and `import_prefix` before them."""
    row = _mapping(row, "assert_case")
    cases = row["assert_case"]
    return {
        "tests": [cases] if isinstance(cases, str) else _items(row, "assert_case"),
        "setup": row.get("import_prefix") or "",
    }


def livecodebench(row: Row) -> dict[str, Any]:
    """Convert a row of LiveCodeBench; private test cases may be compressed (see `unpack_text`)."""
    cases = []
    for name in ("public_test_cases", "private_test_cases"):
        try:
            rows = _items({name: unpack_text(row.get(name) or [])}, name)
        except ValueError as error:
            raise UsageError(f"{name} is {error}") from None
        cases += [_mapping(case, "input", "output") for case in rows]
    if not cases:
        raise UsageError("the row has no public_test_cases or private_test_cases")
    converted = {"inputs": [case["input"] for case in cases], "outputs": [case["output"] for case in cases]}
    function = _mapping(row.get("metadata") or {}).get("func_name")
    if not function and any(case.get("testtype") == "functional" for case in cases):
        raise UsageError("its test cases call a function, but the row has no metadata with its func_name")
    # With the starter code as its signature, a reply can use names of typing without importing them.
    return converted | {"function": function, "signature": row.get("starter_code") or ""} if function else converted


def kodcode(row: Row) -> dict[str, Any]:
    """Convert a row with `solution` and `test`, a file for pytest that imports the functions from `solution`."""
    row = _mapping(row, "test")
    return {"tests": row["test"], "solution": row.get("solution") or ""}


def mbpp(row: Row) -> dict[str, Any]:
    """Convert a row with `test_list`, `test_setup_code` (or `test_imports`) and the reference `code`."""
    row = _mapping(row, "test_list")
    imports = [] if row.get("test_imports") is None else _items(row, "test_imports")
    setup = row.get("test_setup_code") or "\n".join(map(str, imports))
    return {"tests": _items(row, "test_list"), "setup": setup, "solution": row.get("code") or ""}


def _mapping(value: Any, *columns: str) -> dict[str, Any]:
    """Return an object, also from JSON, that has these columns; raises UsageError."""
    value = _decoded(value, "")
    if not isinstance(value, Mapping):
        raise UsageError(f"expected an object with {', '.join(columns)}, not {value!r:.60}")
    if missing := [name for name in columns if value.get(name) is None]:
        raise UsageError(f"the row has no {' and no '.join(missing)}; it has {', '.join(map(str, value))}")
    return dict(value)


def _items(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list in a column, also from JSON or an array; raises UsageError."""
    value = _decoded(row[name], f"{name} is ")
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise UsageError(f"{name} is {value!r:.60}, not a list")
    return list(value)


def _decoded(value: Any, subject: str) -> Any:
    """Return the value of a JSON text, and any other value as it is; raises UsageError."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(f"{subject}not JSON: {error}") from None


_BY_COLUMN: dict[str, Callable[[Any], dict[str, Any]]] = {
    # Without outputs, it is a row of grade's own, whose solution answers.
    "inputs": lambda row: row if row.get("outputs") is None else {**row, **inputs_outputs(row)},
    "assert_case": assert_case,
    "verification_info": prime_intellect,
    "test_cases": prime_intellect,
    "private_test_cases": livecodebench,
    "public_test_cases": livecodebench,
    "private_tests": code_contests,
    "public_tests": code_contests,
    "test_list": mbpp,
    "test": kodcode,
}
"""A column -> the shape that has it."""
