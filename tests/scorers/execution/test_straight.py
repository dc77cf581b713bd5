"""Only tests whose calls no answer can change are called straight."""

from __future__ import annotations

import pytest

from grader.scorers.execution.straight import is_straight

STRAIGHT = {
    "assertions": "def check(candidate):\n    assert candidate([1, -2], {'a': (3,)}) == 1, 'no'\n\ncheck(solution)\n",
    "parts of answers": "def f():\n    assert solution(1)[0].left.value == 2\n    assert -solution(2) in [1]\n\nf()\n",
    "functions of Python": "assert abs(solution(1.5) - 0.5) < 1e-6\nassert sorted(solution(1), reverse=True) == [1]\n",
    "a class of the signature": "assert solution(Node(1, Node(2))) == 3\nassert solution(root=Node(1)) == 1\n",
    "an answer by name": "DATA = {'a': 1}\nresult = solution(1)\nassert result == 1\nassert len(result) == 2\n",
}
NOT_STRAIGHT = {
    "a branch": "if solution(1):\n    solution(2)\n",
    "a short circuit": "assert solution(1) and solution(2)\n",
    "a chain of comparisons": "assert 1 < solution(1) < solution(2)\n",
    "a condition": "solution(1) if solution(2) else solution(3)\n",
    "a loop": "for x in solution(1):\n    solution(2)\n",
    "a comprehension": "assert [solution(x) for x in solution(1)]\n",
    "a message that calls": "assert solution(1), str(solution(2))\n",
    "an exception that is expected": "try:\n    solution(1)\n    solution(2)\nexcept ValueError:\n    solution(3)\n",
    "an answer as argument": "solution(solution(1))\n",
    "a part of an answer as argument": "x = solution(1)\nsolution(x[0])\n",
    "a function of an answer as argument": "solution(len(solution(1)))\n",
    "an argument that an earlier call may change": "x = [1]\nsolution(x)\nsolution(x)\n",
    "a method": "solution(1).sort()\n",
    "a function by keyword": "assert sorted(solution(1), key=solution) == []\n",
    "a function of its own under a known name": "def len(x):\n    solution(x)\n\nassert len(solution(1)) == 1\n",
    "a function that is chosen": "{1: f, 2: g}[solution(1)](2)\n",
    "arguments that are unpacked": "solution(*solution(1))\n",
    "keywords that are unpacked": "solution(**{'a': 1})\n",
    "a decorator": "@solution\ndef f():\n    pass\n",
    "a default": "def f(x=solution(1)):\n    pass\n",
    "a class of its own": "class A:\n    x = solution(1)\n",
    "a class that is bound again": "Node = solution(1)\nsolution(Node(1))\n",
    "a text with values": "solution(f'{solution(1)}')\n",
    "an import": "import random\nsolution(random.random())\n",
    "no Python": "solution(\n",
}


@pytest.mark.parametrize("name", STRAIGHT)
def test_plain_assertions_are_straight(name: str) -> None:
    assert is_straight(STRAIGHT[name], frozenset({"Node"}))


@pytest.mark.parametrize("name", NOT_STRAIGHT)
def test_what_an_answer_could_change_is_not(name: str) -> None:
    assert not is_straight(NOT_STRAIGHT[name], frozenset({"Node"}))
