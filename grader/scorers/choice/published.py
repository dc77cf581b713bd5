"""Published readers of letters beyond VLMEvalKit and V*, bug for bug, by name.

mmlu-pro: TIGER-AI-Lab/MMLU-Pro f418b11, `evaluate_from_local.py`, `compute_accuracy.py` (level 2).
mmlu-pro-2024-05: `evaluate_from_local.py` from 2ed4dfc (2024-05-23) until 8f97a48 (2024-07-09): two steps.
mmlu-pro-level-1: `compute_accuracy.py` at f418b11 (level 1), and `evaluate_from_local.py` before 2ed4dfc: one step.
mmmu: MMMU-Benchmark/MMMU bb0b95a, `mmmu/utils/eval_utils.py`.
mmmu-pro: MMMU-Benchmark/MMMU bb0b95a, `mmmu-pro/evaluate.py`.
mathvista: lupantech/MathVista 53d5258, `evaluation/calculate_score.py`, which reads what a model has extracted.
lmms-eval-mcq: EvolvingLMMs-Lab/lmms-eval 75571cf, `lmms_eval/tasks/_task_utils/mcq_extract.py`.
simple-evals, simple-evals-multilingual: openai/simple-evals ee3b031, `common.py`, `gpqa_eval.py`, `mmlu_eval.py`.
blink: zeyofu/BLINK_Benchmark 2d6a779, `eval/test_benchmark.py`, without GPT-3.5, which it asks about other replies.
cambrian: cambrian-mllm/cambrian 539ffc3, `eval/eval/{ade,coco,omni,mmvp}/*_test.py` (CV-Bench, MMVP).
gaokao: OpenLMLab/GAOKAO-Bench 6dbb24f, `Bench/bench_function.py`, questions with one right option.
zero-shot-cot: kojima-takeshi188/zero_shot_cot 5ef330f, `utils.py`.

Where a source draws a random letter, nothing is drawn here: `guess` says with which probability each option is hit.
"""

# ruff: noqa: RUF001 - words and letters of other scripts

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from grader.results import Note
from grader.scorers.choice.reading import ChoiceReading, no_answer, read_as
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.results import SampleResult

_UNREAD = no_answer("none_matched")


class PublishedReader(NamedTuple):
    """A reader, and what its source does with a reply that it cannot read."""

    read: Callable[[str, Mapping[str, str]], ChoiceReading]
    """(Reply, letter -> text of its option) -> reading. The rule has a sentence in `GLOSSARY` of `metrics.py`."""
    guess: Callable[[Mapping[str, str]], float] | None = None
    """Probability that the source's random letter is the gold one; None if it draws none."""


# --- MMLU-Pro ---------------------------------------------------------------------------------------------------

_ANSWER_IS = re.compile(r"answer is \(?([A-J])\)?")
_ANSWER_COLON = re.compile(r"(?=([aA]nswer:\s*([A-J])))")
_ALONE = re.compile(r"\b[A-J]\b")


def read_mmlu_pro(text: str, options: Mapping[str, str], steps: int = 3) -> ChoiceReading:
    """Return the letter after the first "answer is", else after an "answer:", else the last one that stands alone.

    Earlier versions of the source have only the first steps.
    """
    match = _ANSWER_IS.search(text)
    if match is not None:
        return _among(match[1], "answer_is", match.span(), options)
    colons = list(_ANSWER_COLON.finditer(text)) if steps > 1 else []
    if colons:
        # In the first line that has one, the last one: the source's pattern is greedy within a line.
        line_end = text.find("\n", colons[0].start())
        colon = [match for match in colons if line_end < 0 or match.start() < line_end][-1]
        return _among(colon[2], "answer_colon", colon.span(1), options)
    letters = [*_ALONE.finditer(text)] if steps > 2 else []
    return _among(letters[-1][0], "last_letter", letters[-1].span(), options) if letters else _UNREAD


def _among(letter: str, rule: str, span: tuple[int, int] | None, options: Mapping[str, str]) -> ChoiceReading:
    if letter in options:
        return read_as(letter, rule, span)
    return no_answer("outside_options", span, f"{letter} is not among the options")


# --- MMMU -------------------------------------------------------------------------------------------------------

_STRIPPED = (",", ".", "!", "?", ";", ":", "'")


def read_mmmu(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the last letter in brackets, else the last between blanks, else the last option text."""
    padded = _padded(text)
    for rule, form in (("parenthesised", "({})"), ("between_blanks", " {} ")):
        positions = {k: padded.rfind(form.format(k)) for k in options}
        if max(positions.values(), default=-1) >= 0:
            return read_as(max(positions, key=positions.__getitem__), rule, None)
    return _last_text(padded, options)


def read_mmmu_pro(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the only letter after the last "Answer:", else as `read_mmmu`, but letters may end words and sentences."""
    head, colon, tail = text.rpartition("Answer:")
    letters_in_tail = [k for k in options if k in tail.strip()] if colon else []
    if len(letters_in_tail) == 1:
        return read_as(letters_in_tail[0], "answer_colon", (len(head), len(text)))
    padded = _padded(text)
    for rule, form, placed in (
        ("parenthesised", "({})", "({})"),
        ("before_blank", "{} ", " {} "),
        ("before_full_stop", "{}.", " {} "),
    ):
        if letters := [k for k in options if form.format(k) in padded]:
            # The source looks for the last of them in another form; where none has it, the first option is taken.
            return read_as(max(letters, key=lambda k: padded.rfind(placed.format(k))), rule, None)
    return _last_text(padded, options)


def _padded(text: str) -> str:
    for mark in _STRIPPED:
        text = text.strip(mark)
    return f" {text} "


def _last_text(padded: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the option whose text occurs last in a reply of more than five words."""
    if len(padded.split()) > 5:
        low = padded.lower()
        positions = {k: low.rfind(option.lower()) for k, option in options.items()}
        if max(positions.values(), default=-1) >= 0:
            return read_as(max(positions, key=positions.__getitem__), "option_text", None)
    return _UNREAD


# --- MathVista --------------------------------------------------------------------------------------------------

_BRACKETED = re.compile(r"\(([a-zA-Z])\)")


def read_mathvista(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the first letter in brackets, else a reply that is a letter, else the option with the nearest text."""
    from rapidfuzz.distance import Levenshtein

    text = text.strip()
    bracketed = _BRACKETED.search(text)
    letter = bracketed[1].upper() if bracketed else text
    if letter in options:
        return read_as(letter, "parenthesised" if bracketed else "bare_letter", None)
    return read_as(min(options, key=lambda k: Levenshtein.distance(letter, options[k])), "nearest_text", None)


# --- lmms-eval --------------------------------------------------------------------------------------------------

_LMMS_STRIPPED = (*_STRIPPED, '"')
_KINDS = ("answer", "correct answer", "best answer", "correct option", "best option", "choice", "correct choice")
_PHRASES = (
    *(f"{article}{kind} is" for kind in _KINDS for article in ("", "the ")),
    *("i choose", "i select", "i pick", "my answer is", "my choice is"),
    *("옵션", "정답은", "답은", "답:", "答案是", "答案为", "选", "答えは"),
)
_LMMS_FORMS = (
    ("parentheses", "({})", 6),
    ("period", "{}.", 5),
    ("colon", "{}:", 4),
    ("right_paren", "{})", 3),
    ("space", "{} ", 2),
)
"""Rule, form, and priority. All priorities are the source's: 10 at the start, 9 at the end, 7 after a phrase."""


class _Candidate(NamedTuple):
    """A letter in a reply; of several, the one with the highest priority counts, then the one that stands last."""

    priority: int
    position: int
    rule: str
    letter: str


def read_lmms_eval_mcq(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the candidate of the highest rank (start, end, phrase, brackets, ...), of these the last one."""
    if not text.strip():
        return _UNREAD
    body = text.strip()
    for mark in _LMMS_STRIPPED:
        body = body.strip(mark)
    padded = f" {body} "
    candidates = [
        _Candidate(priority, position, rule, letter)
        for rule, form, priority in _LMMS_FORMS
        for letter in options
        if (position := padded.rfind(form.format(letter))) >= 0
    ]
    candidates += _candidates_after_phrases(padded, options)
    candidates += _candidates_at_ends(padded, options)
    if not candidates:
        candidates = [_Candidate(0, index, "fallback", k) for k in options if (index := padded.rfind(k)) >= 0]
    if not candidates:
        return _UNREAD
    best = max(candidates, key=lambda candidate: (candidate.priority, candidate.position))
    return read_as(best.letter, best.rule, None)


def _candidates_after_phrases(padded: str, options: Mapping[str, str]) -> list[_Candidate]:
    """Return, for the first place of each phrase, the first place of each option's letter behind it, also in a word."""
    lower = padded.lower()
    starts = {index + len(phrase) for phrase in _PHRASES if (index := lower.find(phrase)) >= 0}
    return [
        _Candidate(priority=7, position=position, rule="phrase", letter=letter)
        for start in starts
        for letter in options
        if (position := padded.find(letter, start)) >= 0
    ]


def _candidates_at_ends(padded: str, options: Mapping[str, str]) -> list[_Candidate]:
    """Return the letters with which a reply begins or ends, if they are not part of a longer word."""
    body, last = padded.strip(), len(padded) - 1
    first_letters = [k for k in options if body.startswith(k) and not body[1:2].isalpha()]
    last_letters = [k for k in options if body.endswith(k) and not body[-2:-1].isalpha()]
    return [
        *(_Candidate(priority=10, position=0, rule="start", letter=letter) for letter in first_letters),
        *(_Candidate(priority=9, position=last, rule="end", letter=letter) for letter in last_letters),
    ]


# --- simple-evals -----------------------------------------------------------------------------------------------

_SIMPLE = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")
_WORDS = (
    "Answer:|Answer:\u200b\u200b\u200b\u200b\u200b\u200b|উত্তর:|उत्तर:|=উত্তরঃ|উত্তর:|Antwort:|답변:|정답:|답:|答案：|答案:|答：|答:|"
    "答复：|答曰：|=الإجابة:|=الجواب:|=إجابة:|=الإجابة النهائية:|=الإجابة الصحيحة:|=الإجابة الصحيحة هي:|=الإجابة هي:|"
    "=الجواب النهائي:|Respuesta:|Risposta:|答え:|答え：|回答:|回答：|解答:|Jawaban:|Réponse:|Resposta:|Jibu:|Idahun:|"
    "Ìdáhùn:|Idáhùn:|A\u0300m\u1ecd\u0300na\u0300:|Àdáhùn:|A\u0300nu\u0301go\u0323:|Àṣàyàn:"
)
"""The source's words for "answer", in its order. Its patterns allow blanks before the colon, but not after a "="."""
_REMOVED = (
    "**",
    "$\\boxed{",
    "}$",
    "\\$",
    "$\\text{",
    "$",
    "\\mathrm{",
    "\\{",
    "\\text",
    "\\(",
    "\\mathbf{",
    "{",
    "\\boxed",
)
_LETTERS = {**dict(zip("أبجد", "ABCD", strict=True)), **dict(zip("অবডঢ", "ABCD", strict=True))}
_LETTERS |= dict(zip("ＡＢＣＤ", "ABCD", strict=True))


def read_simple_evals(text: str, _: Mapping[str, str]) -> ChoiceReading:
    """Return the letter after the first "Answer:"; a small letter is kept, which is never the gold one."""
    match = _SIMPLE.search(text)
    return _UNREAD if match is None else read_as(match[1], "answer_colon", match.span())


def read_simple_evals_multilingual(text: str, _: Mapping[str, str]) -> ChoiceReading:
    """Return the letter after "Answer:" in the first language whose word the reply has, without LaTeX marks."""
    for mark in _REMOVED:
        text = text.replace(mark, "")
    for pattern in _multilingual_patterns():
        match = pattern.search(text)
        if match is not None:
            return read_as(_LETTERS.get(match[1], match[1]), "answer_colon", None)
    return _UNREAD


@cache
def _multilingual_patterns() -> list[re.Pattern[str]]:
    """Return a pattern of each word for "Answer" and a letter; "=" marks words without blanks before the colon."""
    patterns = []
    for word in _WORDS.split("|"):
        label = word[1:] if word.startswith("=") else re.sub("([:：])", r"\\s*\1", word)
        patterns.append(re.compile(rf"(?i){label}[ \t]*([A-D]|[أ-د]|[অবডঢ]|[ＡＢＣＤ])"))
    return patterns


# --- BLINK, CV-Bench, GAOKAO-Bench, Zero-shot-CoT -------------------------------------------------------------------


def read_blink(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the letter that is the whole reply, else the only one in brackets of the last part, or of the reply."""
    whole_reply = re.fullmatch(r"([A-E])|\(([A-E])\)", text)
    if whole_reply is not None:
        return _among(whole_reply[1] or whole_reply[2], "bare_letter", whole_reply.span(), options)
    option_marks = {f"({letter})" for letter in options}
    marks, last_marks = option_marks & set(text.split()), option_marks & set(text.rpartition("\n\n")[2].split())
    letters = last_marks if len(last_marks) == 1 else marks
    return read_as(letters.pop()[1], "parenthesised", None) if len(letters) == 1 else _UNREAD


def read_cambrian(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the first letter behind the last "answer is" or "answer:", whatever word it begins."""
    low = text.lower().strip()
    for words in ("answer is", "answer is:", "answer:"):
        low = low.split(words)[-1]
    letter = low.strip().lstrip("(")[:1].upper()
    return read_as(letter, "phrase", None) if letter in options else _UNREAD


def read_cambrian_whole(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the letter or the option's text that is all that is left behind "answer is" or "answer:" (MMVP)."""
    low = text.lower().strip()
    for words in ("answer is", "answer is:", "answer:"):
        low = low.split(words)[-1]
    answer = low.strip().rstrip(".:,").lstrip("(").rstrip(")")
    letters = [letter for letter, option in options.items() if answer in (letter.lower(), option.lower())]
    return read_as(letters[0], "phrase", None) if letters else _UNREAD


def read_gaokao(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the last of the capitals A to D, also within a word."""
    letters = [*re.finditer("[A-D]", text)]
    return _among(letters[-1][0], "last_letter", letters[-1].span(), options) if letters else _UNREAD


_TRIGGER = re.compile(
    r"(?:\nTherefore, (?:the|among [A-Z] through [A-Z], the)|\A(?:The|Among [A-Z] through [A-Z], the)) answer"
    r"(?: \((?:arabic numerals|Yes or No)\))? is"
)


def after_trigger(text: str) -> int:
    """Return where the answer begins: behind the last of the words with which the source asks for it, if it has any."""
    return max((match.end() for match in _TRIGGER.finditer(text)), default=0)


def read_zero_shot_cot(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Return the first capital of the answer that is an option's letter, also within a word."""
    start = after_trigger(text)
    position = min((index for letter in options if (index := text.find(letter, start)) >= 0), default=-1)
    return read_as(text[position], "first_letter", (position, position + 1)) if position >= 0 else _UNREAD


def guess_note(samples: list[SampleResult], options: Mapping[str, Mapping[str, str]], version: str) -> list[Note]:
    """Return a note on what the source's random letters are expected to add to the official accuracy, or none.

    `options` has the options of each question id.
    """
    guess = READERS[version].guess if version in READERS else None
    unread = [s for s in samples if s.official.rule == _UNREAD.rule] if guess else []
    if guess is None or not unread:
        return []
    points = sum(s.official.points for s in samples)
    expected = (points + sum(guess(options[s.qid]) for s in unread)) / len(samples)
    text = (
        f"The published scorer reads no letter in {counted(len(unread), 'reply', 'replies')} and draws "
        f"one at random. None is drawn here: the official accuracy is {100 * points / len(samples):.2f}, and "
        f"{100 * expected:.2f} is expected with random letters."
    )
    return [Note(text, "official")]


def _chance_of_an_option(options: Mapping[str, str]) -> float:
    return 1 / len(options)


READERS = {
    "mmlu-pro": PublishedReader(read_mmlu_pro, guess=lambda _: 0.1),
    "mmlu-pro-2024-05": PublishedReader(partial(read_mmlu_pro, steps=2), guess=lambda _: 0.1),
    "mmlu-pro-level-1": PublishedReader(partial(read_mmlu_pro, steps=1), guess=lambda _: 0.1),
    "mmmu": PublishedReader(read_mmmu, guess=_chance_of_an_option),
    "mmmu-pro": PublishedReader(read_mmmu_pro, guess=_chance_of_an_option),
    "mathvista": PublishedReader(read_mathvista),
    "lmms-eval-mcq": PublishedReader(read_lmms_eval_mcq),
    "simple-evals": PublishedReader(read_simple_evals),
    "simple-evals-multilingual": PublishedReader(read_simple_evals_multilingual),
    "blink": PublishedReader(read_blink),
    "cambrian": PublishedReader(read_cambrian),
    "cambrian-mmvp": PublishedReader(read_cambrian_whole),
    "gaokao": PublishedReader(read_gaokao),
    "zero-shot-cot": PublishedReader(read_zero_shot_cot),
}
"""Name of a reader -> the reader."""
