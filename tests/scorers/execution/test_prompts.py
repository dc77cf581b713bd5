"""The published prompts of HumanEval-V, letter by letter: hashes of what its own functions make of the same task."""

import hashlib

import msgspec
import pytest

from grader.benchmark import Split
from grader.errors import InputError, UsageError
from grader.models.prompt import PromptOptions, Turn
from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionColumns, ExecutionProtocol
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.prompts import turns
from grader.scorers.execution.scorer import Execution
from tests.scorers.execution.made import make
from tests.tables import each

SIGNATURE = 'def solution(a: dict) -> int:\n    """Count {braces}."""\n'


def asked(mode: str, *, first_version: bool = False) -> tuple[Turn, ...]:
    return turns(mode, first_version=first_version, signature=SIGNATURE, description="A {spiral}.")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@each(("mode", "expected"), [("v2c", "8232ec33b020b38a"), ("v2c-cot", "a9639790b4a1e7ec"), ("t2c", "d9650a26ae1aa69f")])
def test_a_mode_of_one_request_sends_the_published_text(mode: str, expected: str) -> None:
    (turn,) = asked(mode)
    assert digest(turn.text({})) == expected
    assert (turn.extra_settings, turn.stop) == ({"mode": mode}, "")


def test_v2t2c_asks_for_a_description_with_the_diagram_and_then_for_code_without_it() -> None:
    describe, code = asked("v2t2c")
    assert digest(describe.text({})) == "6fc5696268e47f3e"
    assert digest(code.text({"description": "A {spiral}."})) == "d9650a26ae1aa69f"
    assert (describe.stage, describe.shows_images, describe.is_greedy, describe.by_coder) == (
        "description",
        True,
        False,
        False,
    )
    assert (code.stage, code.shows_images, code.is_greedy, code.by_coder) == ("code", False, True, True)


def test_v1_sends_the_readmes_text_and_ends_after_the_code_block() -> None:
    (turn,) = asked("v2c", first_version=True)
    assert turn.text({}) == (
        "**Instructions:**\nYou are an exceptionally intelligent coding assistant that consistently delivers accurate "
        "and reliable responses to user instructions. Please complete the function based on the provided image and "
        "code context. Return the complete solution, including the function signature, in a single response, formatted "
        f"within a Python code block.\n\n**Code Context:**\n```python\n{SIGNATURE}\n```\n"
    )
    assert turn.stop == "\n```\n"


def test_a_mode_or_a_description_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="the modes are v2c, v2c-cot, v2t2c, t2c"):
        asked("v2x")
    with pytest.raises(UsageError, match="protocol v1 has only the mode v2c"):
        asked("t2c", first_version=True)
    with pytest.raises(InputError, match="ground_truth_diagram_description"):
        turns("t2c", first_version=False, signature=SIGNATURE, description=None)


def own(prompts: str = "") -> ExecutionBenchmark:
    return ExecutionBenchmark(
        id="own",
        name="Own",
        scoring="execution",
        columns=ExecutionColumns(id="id", signature="sig", tests="tests"),
        splits={"test": Split()},
        protocols={"p": ExecutionProtocol(prompts=prompts)},
        default_split="test",
        default_protocol="p",
    )


def test_a_benchmark_without_published_prompts_is_asked_plainly_or_with_a_template() -> None:
    task = make("q", SIGNATURE, "assert True", {})
    (plain,) = Execution().turns(own(), task, PromptOptions(protocol="p", mode="v2c"))
    assert plain.text({}).endswith(f"code block.\n\n```python\n{SIGNATURE}\n```\n")
    prompt_options = PromptOptions(protocol="p", mode="v2c", template="Finish:\n{{ signature }}", template_name="t")
    (turn,) = Execution().turns(own(), task, prompt_options)
    assert turn.text({}) == f"Finish:\n{SIGNATURE}"
    with pytest.raises(UsageError, match="own has no modes"):
        Execution().turns(own(), task, PromptOptions(protocol="p", mode="t2c"))


@pytest.mark.parametrize(("function", "asks"), [("", " that reads standard input and writes"), ("f", ". Reply with")])
def test_a_task_in_words_is_asked_for_a_program(function: str, asks: str) -> None:
    cases = Cases(inputs=("1",), outputs=("2",), function=function)
    task = msgspec.structs.replace(make("q", "", "", {}), text="Print n + 1.", cases=cases)
    (turn,) = Execution().turns(own(), task, PromptOptions(protocol="p", mode="v2c"))
    assert turn.text({}).startswith(f"Print n + 1.\n\nAnswer with a Python program{asks}")
    with pytest.raises(UsageError, match=r"own has no question to ask: name its column"):
        Execution().turns(own(), msgspec.structs.replace(task, text=""), PromptOptions(protocol="p", mode="v2c"))
