"""The published HumanEval-V prompts, by protocol and mode.

The texts are from HumanEval-V/HumanEval-V-Benchmark: from its README for v1, from `prompts.py` at c8c4e53 for v2, where
the modes are called V2C, V2C-CoT, V2T2C and GT-T2C. An image comes before its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import InputError, UsageError
from grader.models.prompt import Sampling, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

MODES: Mapping[str, str] = {
    "v2c": "from diagram and signature to code",
    "v2c-cot": "the same, after an analysis step by step",
    "v2t2c": "from diagram and signature to a description, then from that to code, without the diagram",
    "t2c": "from the ground-truth description to code, without the diagram",
}
SAMPLING = Sampling(temperature=0.0, temperature_of_several=0.8, top_p=0.95, max_tokens=2048)
STOP = "\n```\n"
"""The end of the code block: v1's runs sent it to their servers as the stop text; v2's runs send none."""
DESCRIPTION = "description"

_V1 = """\
**Instructions:**
You are an exceptionally intelligent coding assistant that consistently delivers accurate and reliable responses to \
user instructions. Please complete the function based on the provided image and code context. Return the complete \
solution, including the function signature, in a single response, formatted within a Python code block.

**Code Context:**
```python
{signature}
```
"""

_ASSISTANT = """\
You are an exceptionally intelligent coding assistant with a deep understanding of Python programming and a keen \
ability to interpret visual data. Your responses are consistently accurate, reliable, and thoughtful.

**Objective:**
You will be presented with a Python programming problem and an accompanying image. Please complete the function based \
on the provided image and code context.

**Note**
- Remember, the signature by itself does not contain the entire problem; the image provides critical details.
- Observe the image closely and determine how its visual elements correspond to the problem's inputs, outputs, \
operations, calculations, patterns (static/dynamic), and conditions.  
"""  # noqa: W291 - two blanks end a line in Markdown

_CONTEXT = """
**Code Context:**
```python
{signature}
```
"""

_V2C = (
    _ASSISTANT
    + """\
- Please generate the complete code solution, including its function signature and body, formatted in a single Python \
code block, **without any additional text or explanation**.
"""
    + _CONTEXT
)

_V2C_COT = (
    _ASSISTANT
    + """\
- First summarize the important clues or findings and write a step-by-step analysis. 
- Then generate the complete code solution, including the function signature and body, formatted in a single Python \
code block.
"""  # noqa: W291
    + _CONTEXT
)

_T2C = """\
**Instructions:**
You are an exceptionally intelligent coding assistant that consistently delivers accurate and reliable responses to \
user instructions. Please complete the function based on the provided problem specification, code context, and \
accompanying image (if provided). Return the complete solution, including the function signature, in a single \
response, formatted within a Python code block.

**Problem Specification:**
```markdown
{description}
```

**Code Context:**
```python
{signature}
```
"""

_V2T = """\
**Instructions:**  
You will receive a Python programming problem and an accompanying image for analysis:

**Code Context:**
```python
{signature}
```

1. **Analyze the Function Signature**  
   Examine the provided function signature (its input, output, and goal) and identify any missing context. Remember, \
the signature by itself does not contain the entire problem; the image provides critical details.

2. **Examine the Image**  
   Observe the image closely and determine how its visual elements correspond to the problem's inputs, outputs, \
operations, calculations, patterns (static/dynamic), and conditions.  
   - First, describe the visual elements you see.  
   - Next, list the important facts from the image that are relevant for understanding the problem.  
   - Finally, deduce any missing information from the problem based on the image.

**Response Format:**  
Please structure your response in three main sections (use Markdown H1 headers):

1. **# Problem Restatement**  
   Provide a concise restatement of the problem, including relevant background and requirements.

2. **# Visual Facts**  
   List the facts directly observed from the image that are necessary for interpreting or solving the problem.

3. **# Visual Patterns**  
   Summarize any operations, calculations, static/dynamic patterns, and conditions inferred from these facts.

**Important Note:**  
- Clearly separate facts (what you directly see in the image) from patterns (what you infer based on those facts).  
- If complex visual information is difficult to express in plain language, use formal notation (mathematical or \
pseudo-code).  
- State only what you are sure of; do not introduce assumptions not supported by the image or give vague conclusions.  
- **Do not** include any code implementation in your response.
"""  # noqa: W291


SIGNATURE_PROMPT = """\
Complete this Python function. Reply with the whole function, including its signature and imports, in one Python code \
block.

```python
{signature}
```
"""

QUESTION_PROMPT = """\
{question}

Answer with a Python program{which}. Reply with the whole program in one Python code block.
"""
READS_INPUT = " that reads standard input and writes to standard output"


def plain_turn(signature: str, question: str, *, reads_input: bool) -> Turn:
    """Return the request for a task without published prompts: for its signature, or for what it says in words."""
    if signature.strip():
        return Turn(text=lambda _: _fill(SIGNATURE_PROMPT, signature))
    return Turn(text=lambda _: QUESTION_PROMPT.format(question=question, which=READS_INPUT if reads_input else ""))


def turns(mode: str, *, first_version: bool, signature: str, description: str | None) -> tuple[Turn, ...]:
    """Return the requests for one program; raises UsageError for an unknown mode, InputError if data is missing.

    `first_version` is protocol v1, which has only the mode `v2c`. `description` is the ground truth, for `t2c`.
    """
    if mode not in MODES:
        raise UsageError(f"--mode {mode}: unknown mode; the modes are {', '.join(MODES)}.")
    if first_version and mode != "v2c":
        raise UsageError(f"--mode {mode}: protocol v1 has only the mode v2c.")
    match mode:
        case "v2c":
            template, stop = (_V1, STOP) if first_version else (_V2C, "")
            return (_single_turn(template, mode, signature, stop=stop),)
        case "v2c-cot":
            return (_single_turn(_V2C_COT, mode, signature),)
        case "t2c":
            if not description:
                raise InputError(["--mode t2c: the data has no ground_truth_diagram_description"])
            return (_code_turn(mode, signature, description),)
        case _:
            describe = Turn(stage=DESCRIPTION, text=lambda _: _fill(_V2T, signature), extra_settings={"mode": mode})
            return (describe, _code_turn(mode, signature, ground_truth=None))


def _single_turn(template: str, mode: str, signature: str, *, stop: str = "") -> Turn:
    return Turn(text=lambda _: _fill(template, signature), stop=stop, extra_settings={"mode": mode})


def _code_turn(mode: str, signature: str, ground_truth: str | None) -> Turn:
    """Return the request for code from a description: the ground truth, or else the model's own, of the previous turn.

    As published, each of its own is turned into code at temperature 0, by the coder model if there is one.
    """
    has_own_description = ground_truth is None
    return Turn(
        stage="code",
        text=lambda texts: _fill(_T2C, signature, texts[DESCRIPTION] if ground_truth is None else ground_truth),
        shows_images=False,
        is_greedy=has_own_description,
        by_coder=has_own_description,
        extra_settings={"mode": mode},
    )


def _fill(template: str, signature: str, description: str = "") -> str:
    return template.format(signature=signature, description=description)
