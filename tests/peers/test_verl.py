"""verl: its client of SandboxFusion asks `grade serve`, with another URL and nothing else changed."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore
from typing import Any

import pytest

from tests.peers import peer
from tests.serving.test_serve import served

pytestmark = pytest.mark.peers

FOLDER = "verl/utils/reward_score/sandbox_fusion"
COMMAND = [sys.executable, "-m", "grader", "serve", "-b", "rows", "--sandbox", "bubblewrap"]
TESTS = {"inputs": [f"{n}\n" for n in range(8)], "outputs": [f"{2 * n}\n" for n in range(8)]}
RIGHT, WRONG, ENDLESS = "print(2 * int(input()))", "print(2)", "while True: pass"
SLEEPING = f"import time\ntime.sleep(1.5)\n{RIGHT}"


@pytest.fixture
def fusion() -> Any:
    """verl's module that computes rewards with SandboxFusion."""
    client = vars(peer.loaded("verl", f"{FOLDER}/utils.py"))
    return peer.loaded("verl", f"{FOLDER}/__init__.py", verl__utils__reward_score__sandbox_fusion__utils=client)


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with served(*getattr(request, "param", []), command=COMMAND) as server:
        yield f"http://127.0.0.1:{server.port}/run_code"


def score_and_reasons(
    fusion: Any, url: str, program: str, tests: dict[str, Any] = TESTS, timeout: int = 10
) -> tuple[float, list[str]]:
    text = f"Here:\n```python\n{program}\n```"
    found, facts = fusion.compute_score(url, Semaphore(64), 1024, text, json.dumps(tests), timeout=timeout)
    return float(found), [fact["status"] for fact in facts]


def score(*given: Any) -> float:
    return score_and_reasons(*given)[0]


def test_programs_have_the_rewards_that_verl_computes(fusion: Any, url: str) -> None:
    assert score(fusion, url, RIGHT) == 1.0
    assert score(fusion, url, WRONG) == 1 / 8
    assert score(fusion, url, "raise ValueError") == 0.0
    assert score(fusion, url, SLEEPING) == 1.0
    answered = score_and_reasons(fusion, url, ENDLESS, {"inputs": ["1"], "outputs": ["2"]}, timeout=3)
    assert answered == (0.0, ["timeout"])
    asserted = {"assert_case": ["assert double(2) == 4", "assert double(3) == 7"]}
    assert score(fusion, url, "def double(n): return 2 * n", asserted) == 0.5
    called = {"inputs": ["2", "3"], "outputs": ["4", "6"], "fn_name": "double"}
    assert score(fusion, url, "class Solution:\n    def double(self, n): return 2 * n", called) == 1.0


@pytest.mark.parametrize("url", [["--max-waiting", "4", "--workers", "2"]], indirect=True)
def test_a_right_program_gets_its_reward_also_from_a_full_server(fusion: Any, url: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        programs = [f"{RIGHT}  # {number}" for number in range(8)]
        assert list(threads.map(lambda program: score(fusion, url, program), programs)) == [1.0] * 8
