"""Mr-Ben responses in both readings."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.scorers.mr_ben.careful import read_careful
from grader.scorers.mr_ben.official import (
    MrBenReading,
    official_step_for_gate,
    official_step_for_score,
    parse_mr_gsm8k,
    parse_official,
    read_official,
)
from grader.scorers.mr_ben.reading import GoldRow, steps_match
from tests.conftest import cases
from tests.scorers.mr_ben.made import NAMES, PROGRAM, full_response
from tests.tables import each


def parse_by_expressions(text: str) -> tuple[str, str, str]:
    """The three splits as the official scorer writes them."""
    fields = ["", "", ""]
    rest = text
    for number, name in enumerate(NAMES):
        pieces = re.split(rf"\*?\*?{name}:?\*?\*?:?", rest)[:2]
        if len(pieces) < 2:
            break
        if number:
            fields[number - 1] = pieces[0]
        rest = pieces[1]
        if number == 2:
            fields[2] = rest
    return fields[0], fields[1], fields[2]


# --- official -------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from((*NAMES, "*", "**", ":", " ", "\n", "correct", "Step 3"))).map("".join))
def test_official_parse_equals_the_official_expressions(text: str) -> None:
    assert parse_official(text) == parse_by_expressions(text)


GSM8K = ("Final Judgement:", "First Error Step:", "Error Analysis:")


def mr_gsm8k_by_expressions(text: str) -> tuple[str, str, str]:
    """The three searches as MR-GSM8K's scripts write them, and the fields as they compare them."""
    patterns = (rf"{GSM8K[0]}\s*(.*?)\s*{GSM8K[1]}", rf"{GSM8K[1]}\s*(.*?)\s*{GSM8K[2]}", rf"{GSM8K[2]}\s*(.*)")
    found = [re.search(pattern, text, re.DOTALL) for pattern in patterns]
    if None in found:
        return "", "", ""
    said, step, reason = (match[1] for match in found if match)
    words = {f"step {number}": str(number) for number in range(30)}
    verdicts = {"correct": "correct", "wrong": "incorrect", "incorrect": "incorrect"}
    return verdicts.get(said.lower(), ""), step if step.isdigit() else words.get(step.lower(), ""), reason


@given(st.lists(st.sampled_from((*GSM8K, " ", "\n", "Correct", "incorrect", "wrong", "Step 3", "3"))).map("".join))
def test_mr_gsm8k_s_parse_equals_its_expressions(text: str) -> None:
    assert parse_mr_gsm8k(text) == mr_gsm8k_by_expressions(text)


def test_mr_gsm8k_reads_its_own_headings_and_mr_ben_does_not() -> None:
    text = "Step-by-step Evaluation: ...\nFinal Judgement: wrong\nFirst Error Step: Step 2\nError Analysis: It adds."
    read = read_official(text, "mr-gsm8k")
    assert (read.correctness, read.step, read.error_reason) == ("incorrect", "2", "It adds.")
    assert read_official(text).correctness is None


@each(
    ("field", "gate", "score"),
    [
        (" Step 3\n", "3", "3"),
        (" **Step 3.**\n", "3", "3"),
        (" 3\n", "3", " 3\n"),
        (" Step 03", "", ""),
        (" Step 3: the formula", "", ""),
        ("", "", ""),
    ],
)
def test_official_steps_differ_by_the_blanks_around_a_bare_digit(field: str, gate: str, score: str) -> None:
    assert (official_step_for_gate(field), official_step_for_score(field)) == (gate, score)


def test_official_reading_is_whole() -> None:
    assert read_official(full_response("Incorrect.", "Step 2")) == MrBenReading(
        correctness="incorrect",
        step="2",
        error_reason="The sign is wrong.",
        raw=(" Incorrect.\n", " Step 2\n", " The sign is wrong."),
        rule="official headings",
        span=(50, 60),
    )


# --- careful --------------------------------------------------------------------------------------------------------


def test_careful_reading_is_whole() -> None:
    text = "### **First Error Step**\nStep 03: the sum\n### **Error Reason**\nA sign.\n### **Verdict**\nIt isn't right."
    assert read_careful(text) == MrBenReading(
        correctness="incorrect",
        step="3",
        error_reason="A sign.",
        rule="heading",
        span=(text.index("n't"), len(text) - 1),
    )


@each(
    "text",
    [
        full_response("incorrect", "Step 3"),
        "## Solution Correctness\n\n**Incorrect**\n\n## First Error Step\nStep 3: the formula\n## Error Reason\nbad",
        "SOLUTION CORRECTNESS - Incorrect\nFIRST ERROR STEP - #3",
        "| Solution Correctness | incorrect |\n| First Error Step | Step 3 |",
        "- **Solution Correctness (correct/incorrect):** incorrect\n- **First Error Step (if any):** Step 3",
        "<solution_correctness>incorrect</solution_correctness><first_error_step>3</first_error_step>",
        '{"solution_correctness": "incorrect", "first_error_step": 3, "error_reason": "x"}',
        '```json\n{\n  "solutionCorrectness": false,\n  "firstErrorStep": "Step 3"\n}\n```',
        "解答正确性\uff1a不正确\n首个错误步骤\uff1a第三步\n错误原因\uff1a公式",
        "Final Verdict: The solution is incorrect.\nFirst incorrect step: Step 3\nExplanation: bad",
        "The solution is incorrect because a sign is lost. The first error occurs in Step 3.",
        "Verdict: incorrect. The error first appears at Step 3.",
        "Step 1 and 2 are correct. Step 3 is incorrect because the sign is wrong.",
        "Solution Analysis:\nProblem: the sum of two numbers is asked.\n" + full_response("incorrect", "Step 3"),
        "Is the solution correct? No\nFirst incorrect step: Step 3",
        "<think>Solution Correctness: correct</think>Solution Correctness: incorrect\nFirst Error Step: Step 3",
        "I weigh it.</think>\nSolution Correctness: incorrect\nFirst Error Step: Step 3",
        full_response("correct", "N/A", "N/A")
        + "\n\nWait, I missed a sign.\n\n"
        + full_response("incorrect", "Step 3"),
        full_response("incorrect", "Step 3") + "\n\nQuestion: What is 2 + 2?\n" + full_response("correct", "N/A"),
    ],
)
def test_any_style_of_headings_is_read(text: str) -> None:
    reading = read_careful(text)
    assert (reading.correctness, reading.step) == ("incorrect", "3")


@each(
    ("field", "correctness"),
    [
        ("correct", "correct"),
        ("The solution is not incorrect", "correct"),
        ("✅", "correct"),
        ("Correct, apart from a typo", "correct"),
        ("Based on the analysis above, the solution is incorrect.", "incorrect"),
        ("partially correct", "incorrect"),
        ("Incorrect, but the final answer is correct", "incorrect"),
        ("\n- [ ] correct\n- [x] incorrect", "incorrect"),
        ("correct, but step 3 is wrong", None),
        ("does not contain any errors", "correct"),
        ("没有错误", "correct"),
        ("部分正确", "incorrect"),
        ("cannot be determined to be correct", None),
        ("arrives at the correct answer", None),
        ("correct/incorrect", None),
        ("[Input 'correct'/'incorrect' here]", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_as_a_person_reads_it(field: str, correctness: str | None) -> None:
    assert read_careful(full_response(field, "N/A", "N/A")).correctness == correctness


@each(
    ("text", "correctness"),
    [
        ("Incorrect.", "incorrect"),
        ("All steps are correct.", "correct"),
        ("No errors were found in the solution.", "correct"),
        ("I found no mistakes.", "correct"),
        ("The solution does not contain any errors.", "correct"),
        ("The solution has an error in Step 3.", "incorrect"),
        ("There is no error in step 2. The solution is correct.", "correct"),
        ("There is no error in step 2.", None),
        ("The code does not handle empty input.", None),
        ("The solution is incorrect. After this change, the solution is correct.", "incorrect"),
        (full_response("incorrect", "Step 2", "It adds. This is wrong, the correct answer is 5."), "incorrect"),
    ],
)
def test_a_verdict_in_a_sentence_is_about_the_solution(text: str, correctness: str | None) -> None:
    assert read_careful(text).correctness == correctness


def test_a_verdict_that_says_both_is_settled_by_a_named_step() -> None:
    reading = read_careful(full_response("correct, but step 3 is wrong", "Step 3"))
    assert (reading.correctness, reading.rule) == ("incorrect", "implied by the step")


@each(
    ("text", "rule"),
    [
        ("I am unable to judge this solution.", "no verdict"),
        ("I cannot tell whether the solution is correct.", "no verdict"),
        ("The solution is correct until step 3.", "no verdict"),
        ("<think>" + full_response("correct", "N/A"), "unfinished reasoning"),
        ("First Error Step: N/A\nError Reason: N/A", "no verdict"),
        ("Correctness: correct\nStep 2\nCorrectness: incorrect", "several verdicts"),
        (full_response("mostly correct", "N/A"), "undecided"),
    ],
)
def test_where_a_person_could_not_tell_nothing_is_read(text: str, rule: str) -> None:
    reading = read_careful(text)
    assert (reading.correctness, reading.rule, bool(reading.detail)) == (None, rule, True)


@each(
    ("field", "step"),
    [
        ("Step 3: the formula of step 2 is misapplied", "3"),
        ("(3)", "3"),
        ("Step 03", "3"),
        ("step three", "3"),
        ("Three", "3"),
        ("the third step", "3"),
        ("\uff13", "3"),
        ("第3步", "3"),
        ("$\\boxed{3}$", "3"),
        ("Steps 3 and 4", "3"),
        ("Step 3 - 2x + 5 = 7 is wrong", "3"),
        ("\n\nThe first error occurs here:\nStep 3", "3"),
        ("Not Step 2 but Step 3", None),
        ("Step 2 is correct; the first error is in Step 3.", None),
        ("N/A", "N/A"),
        ("No error", "N/A"),
        ("无", "N/A"),
        ("Step 3 or 4", None),
        ("After Step 3", None),
        ("3.5 m/s", None),
        ("", None),
    ],
)
def test_a_step_is_read_as_a_person_reads_it(field: str, step: str | None) -> None:
    assert read_careful(full_response("incorrect", field)).step == step


@each(
    ("field", "line"),
    [
        ("    y = x + 1", "y = x + 1"),
        ("\n```python\n    y = x + 1\n```\n", "y = x + 1"),
        ("The line below:\n```\ny = x + 1\n```", "y = x + 1"),
        ("Line 2: `y = x + 1`", "y = x + 1"),
        ("**    y = x + 1**", "y = x + 1"),
        ("The line `y = x + 1` adds too much", "y = x + 1"),
        ("Line 2", "y = x + 1"),
        ("Line 99", None),
        ("Step 3", None),
        ("    ", None),
        ("N/A", "N/A"),
    ],
)
def test_a_code_line_is_read_without_its_wrapping(field: str, line: str | None) -> None:
    assert read_careful(full_response("incorrect", field), program=PROGRAM).step == line


@each("line", ['"""', '"""Add one."""', "Explanation: one is added.", "14"])
@each("style", ["    {}", "`{}`", "7. {}", "\n```python\n    {}\n```"])
def test_lines_of_a_docstring_are_code_lines(line: str, style: str) -> None:
    program = f'def f(x):\n    """Add one."""\n    """\n    {line}\n    14\n    """\n    return x\n'
    reading = read_careful(full_response("incorrect", style.format(line)), program=program)
    assert steps_match(reading.step, GoldRow(correct=False, step=f"    {line}", program=program))


def test_a_code_line_in_json_keeps_its_escapes() -> None:
    text = json.dumps({"solution_correctness": "incorrect", "first_error_step": '    print("a\\n")'})
    assert read_careful(text, program="").step == 'print("a\\n")'


@each("key", ["solution_correctness", "first_error_step", "error_reason"])
def test_deeply_nested_json_is_read_as_it_is_written(key: str) -> None:
    value = "[" * 5000
    reading = read_careful(f'{{"{key}": {value}')
    assert reading.correctness is None
    assert reading.error_reason == (value if key == "error_reason" else "")


@settings(max_examples=cases(200))
@given(st.text(), st.booleans())
def test_any_text_is_read_and_spans_lie_within_it(text: str, coding: bool) -> None:
    for whole in (text, full_response(text, text, text)):
        reading = read_careful(whole, PROGRAM if coding else None)
        assert reading.span is None or 0 <= reading.span[0] < reading.span[1] <= len(whole)
        read_official(whole)


@given(
    st.sampled_from(("correct", "incorrect")),
    st.integers(1, 29),
    st.sampled_from(("{}: ", "**{}:** ", "**{}**: ", "### {}\n", "- {} - ", "> {}: ", "[{}]: ", "{}\uff1a")),
    st.permutations((0, 1, 2)),
    st.sampled_from((str, str.lower, str.upper)),
)
def test_style_order_and_case_of_headings_do_not_matter(
    correctness: str, step: int, style: str, order: list[int], case: type[str]
) -> None:
    values = (correctness, f"Step {step}", "A sign is lost.")
    text = "\n".join(style.format(case(NAMES[part])) + values[part] for part in order)
    reading = read_careful(text)
    assert (reading.correctness, reading.step, reading.error_reason) == (correctness, str(step), values[2])


@each(
    "words",
    [
        "With this change the Solution Correctness: correct.",
        "Rectified Steps:\nStep 2: x = 3\n\nSolution Correctness: correct",
        "However, with this fix the solution is correct.",
        "However, the rest of the solution is correct.",
        "Solution Correctness (after correction): correct",
    ],
)
def test_words_about_the_repaired_solution_are_not_the_verdict(words: str) -> None:
    verdict = "Solution Correctness: incorrect\nFirst Error Step: Step 2\nError Reason: The sign is wrong.\n\n"
    read = read_careful(verdict + words)
    assert (read.correctness, read.step) == ("incorrect", "2")


def test_a_verdict_that_is_withdrawn_or_has_its_own_step_replaces_the_first() -> None:
    verdict = "Solution Correctness: incorrect\nFirst Error Step: Step 2\nError Reason: The sign is wrong.\n\n"
    for words in (
        "Wait, step 2 is fine.\nSolution Correctness: correct",
        "Revised Solution Correctness: correct\nFirst Error Step: N/A",
    ):
        assert read_careful(verdict + words).correctness == "correct"
