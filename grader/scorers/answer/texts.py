"""Texts, values of a programming language, and expressions as answers: what a claim says, and when two are the same.

Quotes around a text, British spelling, a list that ends a reply, and a fence around a value decide none of 13,800
replies. They stay, because a right answer would be wrong without them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.files.python_source import literal_from
from grader.scorers.numbers import Number, as_number
from grader.scorers.patterns import Pattern
from grader.scorers.place_wordings import REFUSES
from grader.scorers.plain_text import plain, without_accents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.scorers.answer.expressions import Comparer
    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim


def _claim_content(reply: OwnWords, claim: Claim) -> str:
    """Return a claim's content: all its parts, a list with its brackets, a JSON text without escapes."""
    if claim.parts:
        return ", ".join(reply.text[slice(*part)].strip() for part in claim.parts)
    if claim.rule == "bracket":
        return reply.text[claim.start - 1 : claim.end + 1]
    content = reply.text[claim.start : claim.end]
    if claim.rule == "json" and "\\" in content:
        try:
            return str(json.loads(f'"{content}"', strict=False))
        except ValueError:
            return content
    return content


# --- texts -----------------------------------------------------------------------------------------------------------

_STANDS_OUT = Pattern(r"\s*(?:\[[^\[\]]*\]|\*\*[^*]+\*\*|\$+[^$]+\$+)[.\s]*")
_ANNOUNCES = Pattern(r":[ *_]*$")


def read_text(reply: OwnWords, claim: Claim) -> str | None:
    """Return the text of a form's content; of a reply without a form, its only line; None for another claim."""
    if claim.is_cut:
        return None
    if claim.form in ("container", "mark", "declaration"):
        return _claim_content(reply, claim).strip(" \t\n`") or None
    return _only_line(reply) if claim.form == "body" and not REFUSES.search(reply.lower) else None


def _only_line(reply: OwnWords) -> str | None:
    """Return a reply's only line, without courtesies; of several lines, the only one that stands out; else None."""
    spans = reply.sentences
    answering = reply.text[spans[0][0] : spans[-1][1]]
    lines = [line for line in reply.text.split("\n") if line.strip()] if "\n" in answering else [answering]
    if len(lines) > 1:
        lines = _standout_lines(lines)
    return lines[0].strip(" \t*_`.") if len(lines) == 1 else None


def _standout_lines(lines: list[str]) -> list[str]:
    """Return the lines that are a list in brackets, a formula, or emphasized as a whole.

    An emphasized line is a heading, unless it is the last one or the line before announces it with a colon.
    """
    return [
        line
        for before, line in zip(["", *lines[:-1]], lines, strict=True)
        if _STANDS_OUT.fullmatch(line) and ("*" not in line or line == lines[-1] or _ANNOUNCES.search(before))
    ]


_BRITISH = (("grey", "gray"), ("colour", "color"), ("metre", "meter"), ("litre", "liter"), ("centre", "center"))
_BLANKS_AT_MARKS = Pattern(r" ?([\[\](){},:]) ?")
_ARTICLE = Pattern(r"^(?:an?|the) (?=\S)")
_MARKUP = Pattern(
    r"\*\*|`+|(?<!\w)__|__(?!\w)|\\(?:text\w*|mathrm|mathbf)\s*\{([^{}]*)\}|(?<!\w)\$(?=\S[^$]*\S\$$)|(?<=\S)\$$"
)


def is_same(answer: str, gold: str) -> bool:
    """Whether two texts are the same but for case, blanks, markup, kinds of quotes, one article and a full stop."""
    return _normalise(answer) == _normalise(gold)


def _normalise(text: str) -> str:
    """Return a text without what makes no difference between two answers: case, blanks, quotes, article."""
    body = " ".join(fold_text(text).replace("'", '"').split()).strip(" .")
    quoted = _QUOTED.fullmatch(body)
    body = _BLANKS_AT_MARKS.sub(r"\1", quoted[quoted.lastindex or 0] if quoted else body).strip(" .")
    return _ARTICLE.sub("", body)


_QUOTED = Pattern(r'"([^"]+)"|\*([^*]+)\*|\{([^{}]+)\}')


def fold_text(text: str) -> str:
    """Return a text in lower case and American spelling, without accents and markup."""
    folded = without_accents(_MARKUP.sub(r"\1", plain(text)).casefold())
    for british, american in _BRITISH:
        folded = folded.replace(british, american)
    return folded


_FILLER_WORDS = frozenset(
    (  # noqa: SIM905 - shorter than a list
        "a an the it this that there is are was were would be of in on at by with says reads shows called named "
        "i think believe it's s between"
    ).split()
)
_TOKEN = Pattern(r"[^\s\"'()]+")
_EDGE_PUNCTUATION = ".,;:!?"
_LIST_JOIN = Pattern(r"(?<!\s)\s+(?:,|and\b)")
_JOINS = ("and", "or", "nor", "not", "&", "/", "no", "than", "but")


def says_only(sentence: str, gold: str, question: str) -> bool:
    """Whether a sentence says a text and nothing else: all other words are the question's, or fillers.

    Not if the text is one of several alternatives. It decides none of 6,944 replies; a public report needs it.
    """
    if "[" in sentence:  # a list is compared as a whole
        return False
    sentence, gold = fold_text(sentence), _ARTICLE.sub("", fold_text(gold).strip())
    if gold.startswith("["):  # "1, 2 and 3" says [1, 2, 3]
        sentence, gold = (_LIST_JOIN.sub(",", text) for text in (sentence, gold.strip("[]")))
    gold_words = _bare_words(gold)
    if not any(gold_words):  # "[]": a sentence that repeats the question does not say it
        return False
    words, bare = _TOKEN.findall(sentence), _bare_words(sentence)
    fillers = _FILLER_WORDS.union(_bare_words(fold_text(question)))
    spans = ((start, start + len(gold_words)) for start in range(len(bare)))
    return any(
        bare[start:end] == gold_words
        and fillers.issuperset(bare[:start] + bare[end:])
        and not _is_list_item(words, start, end)
        for start, end in spans
    )


def _bare_words(folded: str) -> list[str]:
    """Return the words of a folded text without the marks at their edges."""
    return [word.strip(_EDGE_PUNCTUATION) for word in _TOKEN.findall(folded)]


def _is_list_item(words: list[str], start: int, end: int) -> bool:
    """Whether words are one of several alternatives: a comma, a slash or a conjunction joins them to others."""
    before, behind = words[:start], words[end:]
    joins_before = bool(before) and (before[-1][-1] in ",;/" or before[-1] in _JOINS)
    return joins_before or (bool(behind) and (words[end - 1][-1] in ",;/" or behind[0] in _JOINS))


def is_for_judge(text: str, accepted: Sequence[str]) -> bool:
    """Whether a judge must decide about a text that is not an accepted answer, because it may say one in other words.

    It is a sentence, much longer than every accepted answer, or it has an accepted answer among other words.
    """
    # With a blank around each word, a text is found only as whole words of another.
    words, *accepted_words = (f" {' '.join(_bare_words(fold_text(one)))} " for one in (text, *accepted))
    has_accepted = any(answer in words for answer in accepted_words)
    most_words = max((len(answer.split()) for answer in accepted), default=0)  # a broken row accepts none
    return has_accepted or len(text.split()) > _MORE_WORDS + most_words


_MORE_WORDS = 6
"""So many words more than an answer has are a sentence, and not the answer in another spelling."""


# --- literals --------------------------------------------------------------------------------------------------------

_ASSERTED = Pattern(r"(?:assert\s+)?\w+\(.*\)\s*==\s*(?=\S)", 16)
"""The assertion that CRUXEval's prompts ask for: `assert f(17) == 17`. Its published replies have only the value."""
_FENCE = Pattern(r"\A\s*```\w*\n?|```\s*\Z|\A\s*`|`\s*\Z")


def read_literal(reply: OwnWords, claim: Claim) -> str | None:
    """Return the source text of a value; of a reply without a form, all of it, if it is a value or one line."""
    if claim.is_cut or claim.form in ("choice", "conclusion", "sentence"):
        return None
    if claim.rule == "json":  # a field's text, whose quotes are gone
        return _claim_content(reply, claim)
    is_whole_reply = claim.form in ("line", "body")
    content = reply.text if is_whole_reply else _claim_content(reply, claim)
    content = _FENCE.sub("", content.strip()).strip()
    if asserted := _ASSERTED.match(content):  # "assert f(17) == 17"
        content = content[asserted.end() :]
    if is_whole_reply and not _is_literal(content):
        # A text without quotes is a value, too, if it is the whole reply and has one line.
        return content if claim.form == "body" and "\n" not in content.strip() else None
    return content or None


_NOTHING = object()


def _literal(text: str) -> object:
    """Return the value of a Python or JSON literal; `_NOTHING` if a text is not one."""
    for parse in (literal_from, json.loads):
        try:
            return parse(text.strip().rstrip("."))  # the full stop of a sentence
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return _NOTHING


def _is_literal(text: str) -> bool:
    return len(text) < 20_000 and _literal(text) is not _NOTHING


def is_same_literal(answer: str, gold: str) -> bool:
    """Whether two source texts are the same value; a text without quotes is the same text as in quotes."""
    gold_value, value = _literal(gold), _literal(answer)
    if gold_value is not _NOTHING and value is not _NOTHING and _is_same_value(value, gold_value):
        return True
    return answer == gold or (isinstance(gold_value, str) and value is _NOTHING and answer == gold_value)


def _is_same_value(first: object, second: object) -> bool:
    """Whether two values are equal; True is not 1."""
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


# --- expressions -----------------------------------------------------------------------------------------------------

_PROSE = Pattern(r"(?<![\\A-Za-z])(?!sqrt|inf|pi)[A-Za-z]{3}|boxed")


def read_expression(reply: OwnWords, claim: Claim) -> str | None:
    """Return the expression that a form has; of a reply without a form, its only line, if it has no words."""
    text = read_text(reply, claim)
    return None if text is None or (claim.form == "body" and _PROSE.search(text)) else text


_FORMATS = (
    (Pattern(r"\\(?:textcolor|colorbox)\s*\{[^{}]*\}\s*(?=\{)|\\color\s*\{[^{}]*\}"), ""),
    (Pattern(r"\\(?:boldsymbol|bm|mathbf|mathrm|mathit|mathsf|pmb|bold|bf|rm|displaystyle|textstyle|tiny|small|"
             r"normalsize|large|Large|LARGE|huge|Huge|left|right|!)(?![A-Za-z])"), ""),
    (Pattern(r"\\[ ,;:]|~|\\q?quad(?![A-Za-z])|\\$"), " "),
    (Pattern(r"\u221e|\binf(?:ty|inity)?\b(?<!\\infty)"), r"\\infty "),
    (Pattern(r"(?<![\\A-Za-z])pi(?![A-Za-z])|\u03c0"), r"\\pi "),
    (Pattern(r"(?<![\\A-Za-z])sqrt\s*\(([^()]{1,60})\)|\u221a\(([^()]{1,60})\)"), r"\\sqrt{\1\2}"),
    (Pattern(r"\u221a ?(\d+(?:\.\d+)?|[a-z])"), r"\\sqrt{\1}"),
    (Pattern(r"(?<=[\w)}])\s*\*\s*(?=[\w\\({])"), r" \\cdot "),
)  # fmt: skip
"""Marks of colour, size and blanks, which go; signs that are the same in LaTeX."""
_GROUPED = Pattern(r"(?<=\d),(?:\\!|\s)*(?=\d{3}(?!\d))")
_BARE_LIST = Pattern(r"\s*-?\d+,\d{1,2}\s*")


def is_equal(answer: str, gold: str, comparer: Comparer) -> bool | None:
    """Whether two expressions that are written differently are equal; None if that takes too long to find out."""
    answer_number, gold_number = _number(answer), _number(gold)
    if answer_number is not None and gold_number is not None:
        return False
    return comparer.are_equal(to_latex(answer), to_latex(gold))


def is_same_expression(answer: str, gold: str) -> bool:
    """Whether two expressions are the same number, or written alike."""
    answer_number, gold_number = _number(answer), _number(gold)
    if answer_number is not None and gold_number is not None:
        return answer_number.same_amount(gold_number)
    return to_latex(answer).replace(" ", "") == to_latex(gold).replace(" ", "")


def _number(text: str) -> Number | None:
    body = text.strip(" $.")
    return None if _BARE_LIST.fullmatch(body) else as_number(body)


def to_latex(text: str) -> str:
    """Return an expression without formatting marks, with the signs of LaTeX."""
    text = text.strip(" $.")
    for pattern, sign in _FORMATS:
        text = pattern.sub(sign, text)
    return " ".join(_GROUPED.sub("", text).strip(" $.").split())
