"""Answers are read in the grader's own process, whatever a program wrote into its channel."""

import json
from fractions import Fraction
from typing import Any

import pytest

from grader.results import Outcome
from grader.sandbox.answer import Answers, Evidence
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.inputs.judging import printed, returned
from grader.scorers.execution.inputs.values import LARGE, Opaque, answered


def read(value: Any, nodes: list[Any]) -> Any:
    return answered(json.dumps({"v": value, "n": nodes}), LARGE)


def test_plain_answers_are_read() -> None:
    assert read({"r": 0}, [["set", [-1, -2]]]) == {-1, -2}
    assert read({"r": 0}, [["fraction", [-3, 4]]]) == Fraction(-3, 4)
    many = list(range(-2000, 2000))
    assert read({"r": 0}, [["dict", [part for number in many for part in (number, 1)]]]) == dict.fromkeys(many, 1)
    assert read({"r": 0}, [["list", [float("nan")]]]) != read({"r": 0}, [["list", [float("nan")]]])


_AGAIN = [["list", [{"r": number + 1}] * 2] for number in range(60)] + [["list", []]]
_MODULUS = (1 << 61) - 1
_EQUAL_HASHES = [{"i": hex(_MODULUS * number)} for number in range(1, 20000)]


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(_AGAIN, id="lists that share their items"),
        pytest.param([["list", [{"r": 0}]]], id="a list in itself"),
        pytest.param([["set", _EQUAL_HASHES]], id="a set of equal hashes"),
        pytest.param([["dict", [p for one in _EQUAL_HASHES for p in (one, 0)]]], id="a mapping of equal hashes"),
        pytest.param([["fraction", ["1e999999999", 1]]], id="a fraction with a power"),
        pytest.param([["fraction", [1, 0]]], id="a fraction by zero"),
        pytest.param([["scalar", "i8,O", "AAAA"]], id="objects in bytes"),
        pytest.param([["array", "<f8", [1 << 40], ""]], id="a large shape"),
        pytest.param([["array", "<f8", [1 << 24, 0], ""]], id="rows without items"),
        pytest.param([["bytearray", [1 << 30]]], id="so many bytes"),
        pytest.param([["range", [0, 1 << 30, 1]]], id="a long range"),
        pytest.param([["fraction", [{"i": hex(3**99999)}, {"i": hex(2**99999)}]]], id="a long fraction"),
        pytest.param([["list", [{"r": 1}]], ["generator", []]], id="no data"),
    ],
)
def test_an_answer_that_costs_too_much_is_none(nodes: list[Any]) -> None:
    assert isinstance(read({"r": 0}, nodes), Opaque)


PROTOCOL = ExecutionProtocol()
EVIDENCE = Evidence(stopped=None, status=0, cpu=0.0, wall=0.0, waited=0.0, oom=False)
LOADED = '{"functions":["f"]}'


@pytest.mark.parametrize(
    "text",
    ["none", "[1]", "null", '{"functions": 7}', '{"cpu": 1, "failed": 5}', "[" * 5000, "1" * 5000],
    ids=lambda text: text[:9],
)
def test_a_message_that_no_honest_process_writes_is_a_crash(text: str) -> None:
    cases = Cases(inputs=([],), outputs=None, function="f")
    first = returned([Answers(evidence=EVIDENCE, hello=text)], cases, 1.0, PROTOCOL, known={}, most_bytes=None)
    run = printed([Answers(evidence=EVIDENCE, hello=LOADED, replies=[text])], 1, 1.0, PROTOCOL)
    assert [output.outcome for output in (*first, *run)] == [Outcome.CRASHED] * 2
