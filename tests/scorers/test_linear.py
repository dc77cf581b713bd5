"""Whatever a model writes, reading it takes time in proportion to its length.

Every reader of every scorer is given long runs of each character and word that its regular expressions mention, and of
pairs of those that make expressions backtrack most. A reader that takes quadratic time needs half a second for 12,000
characters (the fence pattern once needed as much for tildes) and minutes for 200,000; one in linear time needs 2 to 20
ms for 12,000, and up to 0.8 s where every line begins a statement or names an option.
"""

import functools
import importlib
import itertools
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from re import _constants as code
from re import _parser as parser
from typing import Any

import pytest

import grader.predictions
import grader.scorers
from grader.predictions.reasoning import hide_reasoning
from grader.predictions.server_failures import read_failure
from grader.scorers.answer.careful import read_answer
from grader.scorers.answer.declaration import KINDS, AnswerKind
from grader.scorers.answer.official import RULES
from grader.scorers.choice import published
from grader.scorers.choice.careful import read_choice
from grader.scorers.choice.official import read_lmms_eval, read_vlmevalkit
from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.careful_program import has_code
from grader.scorers.execution.extraction import MAX_SOURCE
from grader.scorers.mr_ben import careful as mr_ben_careful
from grader.scorers.mr_ben import reading
from grader.scorers.mr_ben.official import official_decision, read_official
from grader.scorers.numbers import numbers_in, simplify_numbers
from grader.scorers.own_words import own_words
from grader.scorers.patterns import Pattern
from grader.scorers.places import claims
from tests import growth
from tests.conftest import THOROUGH
from tests.growth import Run, run_of, runs_of, too_slow
from tests.scorers.mr_ben import made

LENGTH = 12_000
EVERY = 1 if THOROUGH else 8
"""One of so many words, marks and pairs is tried."""
BUDGET = 0.25
"""In seconds; what takes longer, and quadratic time, needs more than a minute for 200,000 characters."""

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
ODD = {"A": "1", "B": "A dog. is", "C": "(A) the", "D": "红色"}
STEPS = reading.GoldRow(correct=False, step="3")
CODE = reading.GoldRow(correct=False, step="x = 1", program="def f():\n    x = 1\n")


def mr_ben(gold: reading.GoldRow) -> Callable[[str], None]:
    def read(text: str) -> None:
        for whole in (text, made.response("incorrect", reason=text), made.YES + text):
            read_one(whole)

    def read_one(text: str) -> None:
        official = read_official(text)
        careful = mr_ben_careful.read_careful(text, gold.program)
        for reply in (None, text):
            reading.credit_official(gold, official, reply)
            reading.difference_kind(gold, official, careful, reply)
        official_decision(text)
        reading.credit_careful(gold, careful, mr_ben_careful.careful_decision(text))
        reading.needs_judge_official(gold, official)
        reading.needs_judge_careful(gold, careful)
        reading.steps_match(text, gold)

    return read


def execution(text: str) -> None:
    for rules in ("humaneval-v-v1", "humaneval-v-v2", "plain"):
        assemble(text, "def solution(x):\n", rules)
    assemble(text + "\ndef solution(a):\n  return (\n", "def solution(x):\n", "humaneval-v-v2")
    assemble(text, "", "livecodebench")
    has_code(text)


def lmms_eval(text: str) -> None:
    for version in ("lmms-eval-0.6", "lmms-eval-0.7.0", "lmms-eval-0.7.1"):
        read_lmms_eval(text, version)


def vlmevalkit(text: str) -> None:
    for version in ("vlmevalkit-2025-07", "vlmevalkit-2025-08", "vlmevalkit-2026-06"):
        read_vlmevalkit(text, COLOURS, version)


def choice_published(text: str) -> None:
    for reader in published.READERS.values():
        reader.read(text, COLOURS)


def answer(kind: AnswerKind) -> Callable[[str], None]:
    def read(text: str) -> None:
        read_answer(text, "Which one?", kind)
        if kind == "number":
            list(numbers_in(simplify_numbers(text[:100_000])))

    return read


def answer_official(text: str) -> None:
    for rule in RULES.values():
        rule.read(text)


def prediction(text: str) -> None:
    read_failure(text)
    hide_reasoning(text)


ANSWER_MODULES = {"number": ("numbers", "answer.amounts"), "yes_no": ("yes_no",)}
READERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "execution": (
        execution,
        tuple(f"execution.{name}" for name in ("extraction", "careful_program", "reply_forms", "code_spans")),
    ),
    "lmms-eval": (lmms_eval, ("choice.official",)),
    "vlmevalkit": (vlmevalkit, ("choice.official",)),
    "choice, published": (choice_published, ("choice.published",)),
    "choice": (
        lambda text: read_choice(text, COLOURS),
        tuple(f"choice.{name}" for name in ("careful", "labels", "options")),
    ),
    "places": (lambda text: claims(own_words(text, "what is it")), ("places", "own_words", "place_wordings")),
    "choice, odd options": (lambda text: read_choice(text, ODD, "what is it, the question"), ()),
    **{f"answer, {kind}": (answer(kind), ANSWER_MODULES.get(kind, ("answer.texts",))) for kind in KINDS},
    "answer, official": (answer_official, ("answer.official",)),
    "prediction": (prediction, ()),
    "mr_ben": (mr_ben(STEPS), ("mr_ben.careful", "mr_ben.step", "mr_ben.stance", "mr_ben.official")),
    "mr_ben, code": (mr_ben(CODE), ("mr_ben.step", "mr_ben.stance")),
}


def patterns(module: str) -> Iterator[tuple[str, int]]:
    """Yield source and flags of every expression that a module of the scorers has at its top."""
    for value in vars(importlib.import_module(f"grader.scorers.{module}")).values():
        for one in value if isinstance(value, tuple) else (value,):
            held = one[-1] if isinstance(one, tuple) and one else one
            if isinstance(held, (Pattern, re.Pattern)):
                yield held.pattern, held.flags


def mentioned(source: str, flags: int) -> set[str]:
    """Return the words and characters that an expression mentions; of a range the first, of a class one of it."""
    found: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waiting: list[Any] = [parser.parse(source, flags)]
    while waiting:
        word = ""
        for operator, argument in [*waiting.pop(), (None, None)]:
            if operator is code.LITERAL:
                word += chr(argument)
                continue
            found.add(word)
            word = ""
            if operator is code.IN:
                found.update(filter(None, map(_one_of, argument)))
            elif operator is code.NOT_LITERAL:
                found.add(chr(argument))
            elif operator is code.SUBPATTERN:
                waiting.append(argument[3])
            elif operator is code.BRANCH:
                waiting += argument[1]
            elif operator in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
                waiting.append(argument[2])
            elif operator in (code.ASSERT, code.ASSERT_NOT):
                waiting.append(argument[1])
            elif operator is code.ATOMIC_GROUP:
                waiting.append(argument)
    return found - {""}


def _one_of(member: tuple[Any, Any]) -> str:
    kind, value = member
    if kind is code.LITERAL:
        return chr(value)
    if kind is code.RANGE:
        return chr(value[0])
    return {code.CATEGORY_SPACE: " ", code.CATEGORY_DIGIT: "3", code.CATEGORY_WORD: "w"}.get(value, "")


def words_of(name: str) -> list[str]:
    return sorted({word for module in READERS[name][1] for found in patterns(module) for word in mentioned(*found)})


def chosen_words(name: str) -> list[str]:
    """Return what is no plain word, and some plain ones: "antwort" backtracks no more than "answer"."""
    words = words_of(name)
    return [word for place, word in enumerate(words) if len(word) < 3 or not word.isalpha() or place % 10 == 0][::EVERY]


def two_halves(one: str, two: str, length: int) -> str:
    return run_of(one)(length // 2) + run_of(two)(length // 2)


@pytest.mark.generated
@pytest.mark.parametrize("name", [name for name in sorted(READERS) if READERS[name][1]])
def test_a_run_of_any_word_is_read_in_linear_time(name: str) -> None:
    assert too_slow(READERS[name][0], runs_of(chosen_words(name)), LENGTH, BUDGET) == []


PHRASES = [
    *(
        "A ",
        "1,",
        "A? ",
        "- ",
        "! ",
        "> ",
        "\n#",
        '{ "',
        '{"a":',
        '{"answer": "',
        "\\[ ",
        "\\frac{",
        "\\boxed{",
        "red ",
    ),
    *("<think>", "</think>", "<think></think>", "<thi<think></think>nk>", "<answer>", "step ", "solution is "),
    *("red ", "answer: ", "Answer:\t\t\t", "(B) \n", "J"),
    *("the answer is ", "The answer is B. wait ", "答案是A。", "A. red\n", "not ", "contains ", "Final Decision:"),
    *("Solution Correctness: correct\n", "solution correctness: ", "def solution\n", "x\ndef solution(a): pass\n?\n"),
    *("It's a (test\n", '"""\n', "elif a:\n  b\n", " if x:\n", "(\n"),
]
SHAPES: dict[str, Run] = {
    "nested parentheses": lambda length: "(" * (length // 2) + "A" + ")" * (length // 2),
    "nested boxes": lambda length: "\\boxed{" * (length // 8) + "}" * (length // 8),
    "a far letter": lambda length: "answer" + " " * length + "B",
    "tildes and a backtick": lambda length: "~" * length + "`",
    "a fence and empty lines": lambda length: "```\nx\n" + "\n" * length + "x\n```",
    "a far full stop": lambda length: "red" + " " * length + ".",
    "a long word": lambda length: "B\n" + "x" * length,
}


FAILING = "`\0w"
"""An end that no expression takes, of marks or words: only then do repetitions of the same characters try all ways to
share a run."""


@functools.cache
def marks() -> list[str]:
    """Return a character of each class, and each mark, that an expression of `scorers/` or `predictions/` mentions.

    Letters and ideographs stand for each other: no expression repeats one of them alone.
    """
    found = {mark for pattern, flags in every_pattern() for mark in mentioned(pattern, flags) if len(mark) == 1}
    return sorted({mark for mark in found if not mark.isalpha()} | {*"aAé选"})


def every_pattern() -> Iterator[tuple[str, int]]:
    for package in (grader.predictions, grader.scorers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield from patterns_in(tuple(vars(importlib.import_module(module.name)).values()))


def patterns_in(value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, (Pattern, re.Pattern)) and isinstance(value.pattern, str):
        yield value.pattern, value.flags
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(part)


@pytest.mark.generated
@pytest.mark.parametrize("name", sorted(READERS))
def test_a_run_of_any_mark_that_ends_otherwise_is_read_in_linear_time(name: str) -> None:
    """Growth shows at a part of the length, too: in linear time, 200,000 marks take up to 2 s a reading."""
    runs = {mark: functools.partial(lambda mark, length: mark * length + FAILING, mark) for mark in marks()[::EVERY]}
    assert too_slow(READERS[name][0], runs, MAX_SOURCE // 6, 2.0) == []


@pytest.mark.parametrize("name", [name for name in sorted(READERS) if READERS[name][1]])
def test_blanks_behind_any_word_are_read_in_linear_time(name: str) -> None:
    runs = {word: functools.partial(lambda word, n: word + " " * n + FAILING, word) for word in chosen_words(name)}
    assert too_slow(READERS[name][0], runs, LENGTH, BUDGET) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(READERS))
def test_a_run_of_any_phrase_and_a_text_of_any_shape_is_read_in_linear_time(name: str) -> None:
    assert too_slow(READERS[name][0], runs_of(PHRASES) | SHAPES, LENGTH, BUDGET) == []


BACKTRACKING = [
    *("\n", " ", "~", "`", "*", "<", "[", "(", "{", "\\", "-", ":", '"', "3", "a", "B. "),
    *("```\n", "the ", "answer is ", "step ", "correct ", "</think>", "选", "def solution(x):\n"),
]
"""What begins, continues or separates the repetitions of the expressions."""


def pairs_of(every: int) -> dict[str, Run]:
    """Return one of `every` pairs: half of them in turns, half of them one behind the other."""
    return {
        repr((one, two)): run_of(one + two) if odd % 2 else functools.partial(two_halves, one, two)
        for odd, (one, two) in list(enumerate(itertools.combinations(BACKTRACKING, 2)))[::every]
    }


@pytest.mark.generated
@pytest.mark.parametrize("name", sorted(READERS))
def test_a_run_of_any_pair_is_read_in_linear_time(name: str) -> None:
    """All together under a minute of CPU time: few of the 351 are read at their full length."""
    assert too_slow(READERS[name][0], pairs_of(1 if THOROUGH else 40), 20_000, 0.5) == []


def test_a_reader_in_quadratic_time_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its steps stand for seconds here: the machine that counts them may be as busy as it likes."""
    monkeypatch.setattr(growth, "_cost", lambda read, text: read(text))
    steps = lambda text: len(text) ** (2 if text[0] == "~" else 1) / 1e6  # noqa: E731
    assert too_slow(steps, runs_of("~ab"), 6_000) == ["~"]
