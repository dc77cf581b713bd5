"""The published Mr-Ben prompt, which asks for a verdict on a solution, with its demonstrations.

The texts are from dvlab-research/Mr-Ben, script/utils.py (MIT License, copyright 2024 DV Lab). Demonstrations are from
`k_shot_demo.json`, chosen by the row's fine subject (`high_school_physics`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.models.prompt import Sampling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SAMPLING = Sampling(temperature=0.0, top_p=0.9)
DEMONSTRATIONS = "k_shot_demo.json"
CODING = "coding"

_FORMAT = """\
Please follow the desired response format:
Solution Analysis: [Give a step by step analysis on the solution correctness here]
Solution Correctness: [Input 'correct'/'incorrect' here to indicate the overall correctness of the solution]
First Error Step: [{first_error_step} Input 'N/A' if the solution is correct.]
Error Reason: [Input the error reason and the rectified reasoning of the first error {unit} here. Input 'N/A' if the \
solution is correct.] 

Please follow this format without any additional introductory or concluding statements.
"""  # noqa: W291 - as published

_CODING = """\
Following is a coding question and its solution. Your task is to examine the solutions step by step and determine the \
solution correctness.
If the solution is incorrect, please further find out the first error line and explain the error reason. 

Following are the specific definitions of the fields:
Solution Correctness: Determines if the code correctly solves the problem. The code must be executable, logically \
sound, and correctly answer the question.  
First Error Step: Examine each line to categorize as correct, neutral, or incorrect. Correct lines execute well and \
contribute to solving the problem. Neutral lines are auxiliary and not critical to the main logic. Incorrect lines \
contain logical, implementation errors, or show a misunderstanding of the problem. Both explanatory comments and code \
lines could be considered as correct, neutral or incorrect. If you believe the error is caused by missing logic, \
report the first reasonable place you think the missing code should be inserted.
Error Reason: For the first incorrect line/location identified, explain the specific mistakes and provide a corrected \
version of the line. The revised line could be either a explanatory comment or a code line.

{demonstrations}
Below is the question and solution for you to solve:
Question: 
{question}

Code solution: 
{solution}


"""  # noqa: W291

_OTHERS = """\
Following is a question/solution pair in subject {subject}. Your task is to examine the solutions step by step and \
determine the solution correctness.
If the solution is incorrect, please further find out the first error step and explain the error reason. 

Following are the specific definitions of the fields:
Solution Correctness: Does the solution correctly answer the question with justifiable reasoning and selected the \
corrected options?  
First Error Step: For every step it can either be correct, neutral or incorrect. Correct steps are those that possess \
sound logic and correct computation and lead to the correct answer.
Neutral steps are those step that are explanatory, exploring or focusing on background illustration. They have no \
obvious mistakes but is not very clear if they lead to the correct answer.
Incorrect steps are those with factual errors, computation errors or understanding/logic errors. These steps might or \
might not detour the reasoning path to incorrect answers. 
We need to single out the first step that comes with above errors or lead to incorrect answers. 
Error Reason: For the identified first error step, please specify the errors made in this step and suggest a rectified \
reasoning step instead.

{demonstrations}
Below is the question and solution for you to solve:
Question: {question}
Options: {options}
Step by Step Solution: {solution}


"""  # noqa: W291


def prompt(row: Mapping[str, Any], demonstrations: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the prompt for one row, with the demonstrations in the order given."""
    if row.get("Subject", row.get("subject")) == CODING:
        body = _CODING.format(
            demonstrations=_coding_demonstrations(demonstrations),
            question=row["Question"],
            solution=row["Model_Solution_Steps"],
        )
        return body + _FORMAT.format(first_error_step="Input the first incorrect line of code here.", unit="line")
    # A list of steps is inserted as Python prints it, as in the official run.
    body = _OTHERS.format(
        subject=row.get("Subject", row.get("subject", "")),
        demonstrations=_demonstrations(demonstrations),
        question=row["Question"],
        options=row.get("Options"),
        solution=row["Model_Solution_Steps"],
    )
    return body + _FORMAT.format(
        first_error_step="Input 'Step x' here to indicate the first error step here.", unit="step"
    )


@functools.lru_cache(maxsize=4)
def load_demonstrations(place: Path) -> dict[str, list[Mapping[str, Any]]]:
    """Read the demonstrations beside the subject files, by fine subject; raises InputError."""
    path = (place if place.is_dir() else place.parent) / DEMONSTRATIONS
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, list[Mapping[str, Any]]])
    except OSError as error:
        raise InputError(
            [f"--shots: {path} cannot be read: {error.strerror}; the benchmark's repository has it"]
        ) from error
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise InputError([f"{path}: {error}; expected {{subject: [demonstrations]}}"]) from error


def demonstrations_for(
    row: Mapping[str, Any], by_subject: Mapping[str, list[Mapping[str, Any]]], shots: int
) -> list[Mapping[str, Any]]:
    """Return the first demonstrations of the row's subject; raises InputError if there are too few."""
    subject = str(row.get("Subject", row.get("subject", "")))
    demonstrations = by_subject.get(subject, [])
    if len(demonstrations) < shots:
        number = len(demonstrations)
        raise InputError([f"{DEMONSTRATIONS}: {number} demonstrations for {subject!r}, but --shots is {shots}"])
    return demonstrations[:shots]


def _coding_demonstrations(demonstrations: Sequence[Mapping[str, Any]]) -> str:
    if not demonstrations:
        return ""
    texts = (
        f"Question: \n{example['Question']}\n\nCode solution: \n{example['Solution']}\n\n{example['cot_analysis']}\n"
        for example in demonstrations
    )
    return f"Followings are the {len(demonstrations)}-shot examples for your reference:\n\n" + "".join(texts)


def _demonstrations(demonstrations: Sequence[Mapping[str, Any]]) -> str:
    if not demonstrations:
        return ""
    texts = (
        f"Question: {example['Question']}\nOptions: {example['Options']}\n"
        f"Step by Step Solution: {example['Model_Solution_Steps']}\n{example['cot_analysis']}\n\n"
        for example in demonstrations
    )
    return f"\nFollowings are the {len(demonstrations)}-shot examples for your reference:\n\n" + "".join(texts)
