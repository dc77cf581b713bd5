"""What a reply says about each option, and the one that counts: declared, on a line of its own, or asserted alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.labels import find_labels
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as
from grader.scorers.patterns import Pattern
from grader.scorers.place_wordings import CONFIRMS, FINAL, INITIAL, REFUSES, UNREAL_BEFORE, WITHDRAWS
from grader.scorers.yes_no import polarity

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from grader.scorers.choice.careful.labels import Label
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.places import Claim, Reply

_SHORT = 600
"""A longer reply is read by its declarations, lines and letters alone: an option's words occur in any derivation."""
_SHORTEST = 120
"""In so short a reply, a quantity that is an option's is not one of a derivation."""
_REASONED = 80
"""Fewer letters and digits than this between two declarations are no new reasoning."""
_NEAR = 2
"""So many words of the question or its options make what stands before an answer words to this question."""
_ITEM = Pattern(r"^[ \t*(-]*[a-z][.):][^\n]*$", 8)
_NO_WORD = Pattern(r"[\W_]+")
_TOKEN = Pattern(r"[^\W\d_]{4,}|\d+(?:\.\d+)?|[\u3040-\u9fff\uac00-\ud7af]")
_NOTHING = "no declared answer, no box or tag, no line and no closing sentence with an option"
_PART = Pattern(r"\W*(?:[a-h]|i{1,3})\)")
_PARTS = Pattern(r"(?<!\w)\(?(?:[b-h]|ii+)\)")
_LABELLED = Pattern(r"(?<!\w)[a-z][^\w\s]\W{0,5}$")
"""A letter with its mark: behind it stands an option of the question, which the reply repeats."""
_CAPITAL = Pattern(r"\b[A-Z]\b")
_OPTION = Pattern(r"(?:option|choice)\b[\s.:*(]*")
_BULLET = Pattern(r"[\s*+>#(\[\"']*(?:-+[ \t]+)?[\s*+>#(\[\"']*")
_MARKS = " \t-*+>#([\"'"

Role = Literal["form", "declared", "denied", "doubted", "item", "named"]


class Answer(NamedTuple):
    """What a reply gives as its answer in one place: an option, several, or none (it refuses)."""

    letters: frozenset[str]
    start: int
    end: int
    rule: str
    rank: int = 0
    """1: final or corrected; -1: initial."""
    form: bool = True
    """Whether it stands in the form of an answer ("the answer is"): then weaker ones before it do not count."""
    problem: tuple[str, str] | None = None
    """The rule and the explanation why it is not one option."""


def reading(answer: Answer, options: Options, detail: str = "") -> ChoiceReading:
    """Return the reading of the answer that counts."""
    span = (answer.start, answer.end)
    if answer.problem is not None:
        return ambiguous(answer.problem[0], span, answer.problem[1])
    if not answer.letters:
        said = "says that it has no answer" if answer.rule == "refusal" else "the answer is none of the options"
        return no_answer(answer.rule, span, said)
    named = " and ".join(sorted(answer.letters))
    if len(answer.letters) > 1:
        return ambiguous("several_answers", span, f"names {named}")
    if named not in options:
        return no_answer("outside_options", span, f"{named} is not among the options")
    return read_as(named, answer.rule, span, detail)


def _is_reasoning(block: str) -> bool:
    """Whether the words before an answer are reasoning, and not a list."""
    return len(_NO_WORD.sub("", _ITEM.sub("", block[-2000:]))) >= _REASONED


class Page:
    """A reply's own words to its question, with the places that name options."""

    def __init__(self, reply: Reply, shown: str, options: Options) -> None:
        self.reply = reply
        self.shown = shown
        """The text without markup and containers, as long as the raw reply."""
        self.low = shown.lower()
        self.options = options
        self.labels = find_labels(shown, reply.text, options)

    # --- declarations ---

    def role(self, start: int, stop: int) -> Role:
        """Return what the words around an option's words say about it."""
        left = self.low[self._from(start) : start]
        line = left.rpartition("\n")[2]
        if say.DENIED_BEFORE.search(line) or say.DENIED_AFTER.match(self.low, stop):
            return "denied"
        unreal = self.low.startswith(" would", stop) and UNREAL_BEFORE.search(line)
        if unreal or say.DOUBTED_BEFORE.search(say.BUT.split(line)[-1]) or say.DOUBTED_AFTER.match(self.low, stop):
            return "doubted"
        if say.FORM_BEFORE.search(left):
            return "form"
        if say.CHOSEN_BEFORE.search(left):
            return "declared"
        chosen = say.CHOSEN_AFTER.match(self.low, stop)
        if chosen is not None and not (self.is_negated and not say.IS_ANSWER.match(chosen[0])):
            return "declared"
        concluded = say.CONCLUDED_BEFORE.search(line) and say.CLAUSE_END.match(self.low, stop)
        return "declared" if concluded else "named"

    def _from(self, start: int) -> int:
        """Return where the words before an option begin that are about it: its sentence, or the line before."""
        first = max(0, start - 110)
        cut = max(self.low.rfind(mark, first, start) for mark in (". ", "! ", "? ", ".\n", ";", "\u3002"))
        return max(first, cut + 1)

    @cached_property
    def roles(self) -> list[tuple[Label, Role]]:
        """Every label and what is said about it."""
        found = []
        for label in self.labels:
            role = self.role(label.start, label.stop)
            is_item = role in ("form", "declared", "named") and self._is_item(label, role)
            found.append((label, "item" if is_item else role))
        return found

    @cached_property
    def _heads(self) -> list[tuple[int, Label]]:
        """The labels that begin a line, with the number of the line."""
        found = ((at, self._label_at(start)) for at, (start, _) in enumerate(self._lines))
        return [(at, label) for at, label in found if label is not None]

    def _is_item(self, label: Label, role: Role) -> bool:
        """Whether a label begins an item of a list of options: the next item, or the one before, is another's.

        A letter alone on its line does not begin a list of letters with words.
        """
        at = next((i for i, (_, head) in enumerate(self._heads) if head is label), None)
        if at is None or say.CHOSEN_AFTER.match(self.low, label.stop):
            return False
        for other in (at - 1, at + 1):
            line, head = self._heads[other] if 0 <= other < len(self._heads) else (0, label)
            apart = ord(min(head.letters)) - ord(min(label.letters))
            is_next = apart == other - at or (apart * (other - at) > 0 and abs(line - self._heads[at][0]) == 1)
            if is_next and (role != "form" or abs(line - self._heads[at][0]) == 1):
                return other < at or self._is_bare(other) or not self._is_bare(at)
        return False

    def _is_bare(self, at: int) -> bool:
        line, label = self._heads[at]
        return self._lines[line][1] <= label.end + 1

    def declared(self) -> list[Answer]:
        """Return the letters that are declared."""
        return [
            self._answer(label, "declaration" if role == "form" else "conclusion")._replace(form=role == "form")
            for label, role in self.roles
            if role == "form" or (role == "declared" and label.letters <= set(self.options.letters))
        ]

    def _answer(self, label: Label, rule: str) -> Answer:
        left = self.low[self._from(label.start) : label.start]
        form = say.FORM_BEFORE.search(left)
        near = left[: form.start()] if form is not None else ""
        rank = 1 if FINAL.search(near) else -1 if INITIAL.search(near) else 0
        problem = None
        if label.conflict - label.letters and not self.is_negated:
            named, other = " and ".join(sorted(label.letters)), " and ".join(sorted(label.conflict))
            problem = ("letter_and_text_disagree", f"names {named} with the text of {other}")
        return Answer(label.letters, label.start, label.stop, rule, rank, problem=problem)

    def content(self, claim: Claim, answers: Sequence[Answer]) -> Answer | None:
        """Return the option whose text a declaration has, or its refusal; None beside a letter in it."""
        start, end = claim.start, claim.end
        if claim.denied or any(claim.whole[0] <= a.start < end for a in answers):
            return None
        said = self.shown[start:end]
        if self.options.has_parts and _PART.match(said):
            return None
        named = [label for label in self.labels if start <= label.start < end]
        if len(named) == 1 and self.role(named[0].start, named[0].stop) == "named" and named[0].certain:
            return self._answer(named[0], "declaration")._replace(rank=claim.rank)
        whole = self.options.same(said) or self.options.same(self.shown[start : self._line_end(start)])
        at = None if whole else self.options.at(self.low, self._past_article(start))
        if len(whole) == 1 or (at is not None and say.CLAUSE_END.match(self.low, at[1])):
            letter, stop = (whole[0], end) if whole else at  # type: ignore[misc]
            return Answer(frozenset(letter), start, max(stop, start + 1), "option_text", claim.rank)
        if REFUSES.search(self.low, start, end) and not self._names_refusal():
            return Answer(frozenset(), *claim.whole, "refusal", claim.rank)
        return None

    def _past_article(self, start: int) -> int:
        for article in ("the ", "a ", "an "):
            if self.low.startswith(article, start) and self.options.at(self.low, start) is None:
                return start + len(article)
        return start

    def _line_end(self, at: int) -> int:
        end = self.low.find("\n", at)
        return len(self.low) if end < 0 else end

    def _names_refusal(self) -> bool:
        """Whether an option is itself a refusal ("It cannot be determined")."""
        return any(REFUSES.search(text) or say.NONE_OPTION.search(text) for text in self.options.low.values())

    # --- which declaration counts ---

    def settled(self, answers: list[Answer]) -> ChoiceReading | None:
        """Return the reading of the declarations of a reply, in order; None if there is none."""
        if not answers:
            return None
        answers = [a for a in answers if a.letters or a.rule == "refusal"] or answers
        answers = self._of_this_question(self._strongest(answers))
        last = answers[-1]
        if last.problem and any(a.letters == last.letters and a.problem is None for a in answers):
            last = last._replace(problem=None)
        if self._goes_round(answers):
            return no_answer("loop", (answers[0].start, last.end), "declares answers in turn and breaks off")
        for earlier in reversed(answers[:-1]):
            if not self._same(earlier, last) and not self._replaces(last, earlier):
                named = " and ".join(sorted(earlier.letters | last.letters))
                return ambiguous("several_answers", (earlier.start, last.end), f"declares {named}")
        if len(last.letters) > 1:
            later = [one for one, role in self.roles if one.start > last.end and role in ("named", "declared")]
            if later and len(later[-1].letters) == 1 and later[-1].letters < last.letters:
                last = self._answer(later[-1], "conclusion")
        if len(last.letters) == 1 and last.problem is None and last.letters <= set(self.options.letters):
            undone = self._undone(last)
            if undone is not None:
                return undone
        other = next((a for a in reversed(answers[:-1]) if a.letters - last.letters), None)
        detail = f"declares {', '.join(sorted(other.letters))}, then {', '.join(sorted(last.letters))}" if other else ""
        return reading(last, self.options, detail)

    def _strongest(self, answers: list[Answer]) -> list[Answer]:
        """Leave out what is said about options before the last answer in the form of one."""
        last = max((i for i, a in enumerate(answers) if a.form), default=-1)
        end = answers[last].end if last >= 0 else None
        kept = [a for i, a in enumerate(answers) if a.form or i > last]
        return [a for a in kept if a.form or end is None or not say.REASON.fullmatch(self.low, end, a.start)]

    def _same(self, one: Answer, last: Answer) -> bool:
        """Whether both are the same option: a letter can be the text of another one ("it is point C. Answer: A")."""
        texts = {self.options.texts.get(letter, "").strip("()[]. ").upper() for letter in last.letters}
        return one.letters in (last.letters, texts)

    def _of_this_question(self, answers: list[Answer]) -> list[Answer]:
        """Leave out answers to other questions: of demonstrations before, of inventions and summaries behind.

        The words before each answer are compared with those of the question and its options. Where no answer has
        any, and there are three or more, the last one is to this question.
        """
        if len({a.letters for a in answers}) < 2:
            return answers
        ends = [*(a.start for a in answers[1:]), len(self.low)]
        answers = [a for a, end in zip(answers, ends, strict=True) if not self._is_foreign(a, end)] or answers
        starts = [0, *(a.end for a in answers[:-1])]
        blocks = [self.low[start : a.start] for start, a in zip(starts, answers, strict=True)]
        shares = [len(self._asked & set(_TOKEN.findall(block[-3000:]))) for block in blocks]
        best = max(shares)
        if best < _NEAR and len(answers) > 2 and not any(map(_is_reasoning, blocks)):
            return answers if any(map(say.RECONSIDERED.search, blocks)) else answers[-1:]
        own: list[Answer] = []
        end = -1
        behind: list[Answer] = []  # with nothing but their form
        for answer, block, share in zip(answers, blocks, shares, strict=True):
            follows = own and not behind and end + len(block) == answer.start
            near = share >= _NEAR or (_is_reasoning(block) and (share > 0 or best < 2 * _NEAR))
            if near or best < _NEAR or (follows and ("\n" not in block or say.RECONSIDERED.search(block))):
                own.append(answer)
                end = answer.end
            elif own and end + len(block) == answer.start and say.ONLY_FINAL.match(block.rpartition("\n")[0] + " "):
                behind.append(answer)
                end = answer.end
        others = {answer.letters for answer in behind}
        return own + behind if len(others) == 1 else own

    def _is_foreign(self, answer: Answer, next_one: int) -> bool:
        """Whether an answer is another question's: no option, or with a text that has no word of this question."""
        if answer.letters - set(self.options.letters):
            return True
        rest = self.low[answer.end : self._line_end(answer.end)]
        if answer.end + len(rest) > next_one or say.RECONSIDERED.search(rest):
            return False
        said = set(_TOKEN.findall(rest)) if rest.lstrip(")*").startswith((". ", ": ")) else set()
        return bool(said) and not said & self._asked

    @cached_property
    def _asked(self) -> set[str]:
        """The words of the question and its options."""
        return set(_TOKEN.findall(" ".join((self.options.question, *self.options.low.values()))))

    def _goes_round(self, answers: list[Answer]) -> bool:
        """Whether a reply returns to an option after leaving it for another, and then ends in mid-sentence."""
        turns = [a.letters for i, a in enumerate(answers) if not i or a.letters != answers[i - 1].letters]
        rest = self.low[answers[-1].end :].rstrip()
        return len(turns) > len(set(turns)) and (rest[-1:].isalnum() or rest.endswith((",", "-", "(")))

    def _replaces(self, last: Answer, earlier: Answer) -> bool:
        """Whether the last answer takes the place of an earlier one; otherwise both are answers."""
        between = self.low[earlier.end : last.start]
        if not earlier.letters or last.letters < earlier.letters:
            return True
        if last.rank > earlier.rank and (earlier.rank < 0 or not say.ONLY_FINAL.match(between)):
            return True
        if say.RECONSIDERED.search(between[:300]) or say.RECONSIDERED.search(between[-2000:]):
            return True
        parts = self.options.has_parts and _PARTS.search(between)
        return last.rank == earlier.rank and _is_reasoning(between) and not parts

    def _undone(self, last: Answer) -> ChoiceReading | None:
        """Return why a declaration is not the answer: it is withdrawn or left open behind it; else None."""
        letter = " and ".join(sorted(last.letters))
        back = say.WITHDRAWN.search(self.low[last.end : last.end + 250])
        if back is not None:
            return no_answer("withdrawn", (last.start, last.end + back.end()), f"declares {letter}, then withdraws it")
        cue = WITHDRAWS.search(self.low, last.end, last.end + 4000)
        if cue is None or CONFIRMS.search(self.low, cue.end()):
            return None
        return ambiguous(
            "left_open", (last.start, cue.end()), f"declares {letter}, then reconsiders without a conclusion"
        )

    # --- lines ---

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """The spans of the lines that are not empty, without blanks and marks around them."""
        found, start = [], 0
        for line in self.shown.split("\n"):
            mark = _BULLET.match(line)
            skip = mark.end() if mark else 0
            body = line[skip:].rstrip(_MARKS)
            if body and (body[0].isalnum() or len(body) > 1):
                first = start + skip
                found.append((first, first + len(body)))
            start += len(line) + 1
        return found

    @cached_property
    def alone(self) -> list[Answer]:
        """The options that are alone on a line, or open the reply."""
        found = [answer for line in self._lines if (answer := self._alone(*line)) is not None]
        first = self._opening(*self._lines[0]) if self._lines else None
        return [first, *found] if first and not any(a.start == first.start for a in found) else found

    def _label_at(self, start: int) -> Label | None:
        """Return the label with which a line begins, also behind "Option"."""
        word = _OPTION.match(self.low, start)
        starts = {start, start - 1, *((word.end(), word.end() - 1) if word else ())}
        return next((self._label_from[at] for at in starts if at in self._label_from), None)

    @cached_property
    def _label_from(self) -> dict[int, Label]:
        return {label.start: label for label in self.labels}

    def _role_of(self, label: Label) -> Role:
        return next(role for one, role in self.roles if one is label)

    def _alone(self, start: int, end: int) -> Answer | None:
        """Return the answer of a line that has only a label, with its text or without; at the end, only a text."""
        label = self._label_at(start)
        if label is None:
            apart = not self.low[:start].rpartition("\n")[0].rstrip(" \t").rpartition("\n")[2]
            same = self.options.same(self.shown[start:end]) if end == self._lines[-1][1] and apart else []
            return Answer(frozenset(same), start, end, "option_text") if len(same) == 1 else None
        rest = self.shown[min(label.stop, end) : end].strip(" \t.,:;!)]*\"'-")
        is_text = rest and self.options.is_text_of(min(label.letters), self.shown[label.end : end])
        role = self._role_of(label)
        if (rest and not is_text) or role in ("doubted", "item") or (role == "denied" and not self.is_negated):
            return None
        return self._answer(label, "own_line")

    def _opening(self, start: int, end: int) -> Answer | None:
        """Return the answer with which a reply begins: a label with a mark behind it, or an option's text."""
        label = self._label_at(start)
        if label is not None:
            bracket = self.shown[label.start] in "(["
            behind = self.shown[label.end : label.end + 3].lstrip(" ")[:1]
            marked = behind in tuple(".,:;)-(\n") or bracket or label.stop >= end
            others = {k for one in self.labels if label.stop <= one.start < end for k in one.letters}
            listed = others - label.letters and self.shown[label.end : label.end + 1] == ":"
            bad = self._role_of(label) in ("denied", "doubted", "item")
            return self._answer(label, "leading") if marked and not listed and not bad else None
        found = self.options.at(self.low, start)
        if found is None or self.low[found[1] : found[1] + 1] not in tuple(",.;!\n") or len(self.low) > _SHORT:
            return None
        other = len(self._lines) > 1 and self.options.same(self.shown[slice(*self._lines[1])])
        if other or say.RECONSIDERED.search(self.low, found[1]):
            return None
        return Answer(frozenset(found[0]), start, found[1], "option_text")

    # --- sentences ---

    def sentence(self) -> ChoiceReading:
        """Return the option of the closing sentence, or the only one that a short reply asserts."""
        at = self._none_fits()
        none = [k for k, text in self.options.low.items() if say.NONE_OPTION.search(text)] if at else []
        if at is not None and len(none) == 1 and (self._is_short or "\n" not in self.low[at.end() :].strip()):
            return read_as(none[0], "option_text", at.span())
        sentences = [] if self.reply.breaks_off else self.reply.sentences
        found = self._by_letter(sentences) or (
            (self._by_text(sentences) or self._by_yes_or_no()) if self._may_assert and sentences else None
        )
        if found is not None:
            return reading(found, self.options)
        refusal = REFUSES.search(self.low)
        if refusal is not None and not self.reply.sentences:
            return no_answer("refusal", refusal.span(), "says that it has no answer")
        return no_answer("nothing_read", None, _NOTHING)

    def _none_fits(self) -> re.Match[str] | None:
        """Return where the reply says that no option fits; not in a repeated list of the options."""
        found = say.NONE_FITS.finditer(self.low)
        return next((m for m in found if not _LABELLED.search(self.low, max(0, m.start() - 8), m.start())), None)

    @property
    def _may_assert(self) -> bool:
        """Whether the reply is short, finished, and no refusal: then its sentences can answer with an option's text."""
        body = self.reply.text.strip()
        finished = len(body) <= 100 or body.endswith(tuple(".!?\u3002\"'*:"))
        return finished and len(body) <= _SHORT and not REFUSES.search(self.low)

    @property
    def _is_short(self) -> bool:
        return len(self.low.strip()) <= _SHORT

    @cached_property
    def is_negated(self) -> bool:
        """Whether the question asks for what is not so."""
        return bool(say.NEGATED_QUESTION.search(self.options.question))

    def _by_letter(self, sentences: list[tuple[int, int]]) -> Answer | None:
        """Return the only letter of the closing sentence, or of a short reply."""
        named = [label for label, role in self.roles if role == "named" and (label.certain or self._closes(label))]
        if not named or not sentences:
            return None
        closing = sentences[-1][0]
        concludes = say.CONCLUDES.match(self.low, *sentences[-1])
        for first in (closing, 0) if concludes else (0,):
            own = [label for label in named if first <= label.start <= sentences[-1][1]]
            letters = frozenset().union(*(label.letters for label in own))
            if len(letters) == 1 and (self._is_short or own[-1].start >= closing):
                return self._answer(own[-1], "conclusion")
        if self._is_short and len(letters) > 1:
            both = " and ".join(sorted(letters))
            return self._answer(own[-1], "conclusion")._replace(problem=("several_letters", f"names {both}"))
        return None

    def _closes(self, label: Label) -> bool:
        """Whether a bare letter is the last word of a short reply: "Because of the light, B."."""
        return len(self.low.strip()) <= _SHORTEST and not self.low[label.stop :].strip(" .!*)\"'\n\u3002")

    def _by_text(self, sentences: list[tuple[int, int]]) -> Answer | None:
        """Return the only option whose text a short reply asserts, or the one that its last sentence concludes with."""
        asserted: list[tuple[int, int, frozenset[str]]] = []
        denied: list[tuple[int, int, frozenset[str]]] = []
        before: tuple[int, Role] = (0, "named")
        places = self.options.places(self.low) or self._letters_as_texts()
        if "=" in self.low:
            places = [place for place in places if any(map(str.isalpha, self.low[slice(*place[:2])]))]
        if not places and len(self.low.strip()) <= _SHORTEST:
            of_numbers = self.options.of_numbers(self.reply.text)
            return Answer(frozenset(of_numbers), *self._body, "option_text") if len(of_numbers) == 1 else None
        for start, end, letters in places:
            if any(label.start <= start < label.stop for label, role in self.roles if role == "item"):
                continue
            role = self.role(start, end)
            if before[1] in ("denied", "doubted") and say.CONNECTED.fullmatch(self.low, before[0], start):
                role = before[1]
            before = (end, role)
            if role != "doubted" and any(s[0] <= start < s[1] for s in sentences):
                (denied if role == "denied" else asserted).append((start, end, letters))
        counted = denied if self.is_negated and denied else asserted
        out = frozenset().union(*(label.letters for label, role in self.roles if role == "denied"))
        if not self.is_negated and any(one[2] & out for one in counted):
            return None
        letters = frozenset().union(*(one[2] for one in counted))
        if len(letters) > 1 and self._concludes(sentences):
            counted = [one for one in counted if one[0] >= sentences[-1][0]]
            letters = frozenset().union(*(one[2] for one in counted))
        if len(letters) != 1:
            return None
        return Answer(letters, counted[-1][0], counted[-1][1], "option_text")

    def _by_yes_or_no(self) -> Answer | None:
        """Return yes or no, or true or false, if these are the options and the reply as a whole says so."""
        sides = {text: letter for letter, text in self.options.low.items()}
        pair = next((pair for pair in (("yes", "no"), ("true", "false")) if sides.keys() == set(pair)), None)
        agrees = polarity(self.low.strip(), self.options.question) if pair else None
        if pair is None or agrees is None:
            return None
        return Answer(frozenset(sides[pair[not agrees]]), *self._body, "yes_or_no")

    @cached_property
    def _body(self) -> tuple[int, int]:
        first = len(self.low) - len(self.low.lstrip())
        return first, first + len(self.low.strip())

    def _letters_as_texts(self) -> list[tuple[int, int, frozenset[str]]]:
        """Return where a capital is an option's whole text, and no label ("the formula C")."""
        texts = {t: k for k, t in self.options.texts.items() if len(t) == 1 and t.isupper() and t not in "AI"}
        capitals = _CAPITAL.finditer(self.shown) if texts and not self.labels else ()
        return [(*m.span(), frozenset(texts[m[0]])) for m in capitals if m[0] in texts]

    def _concludes(self, sentences: list[tuple[int, int]]) -> bool:
        """Whether the last sentence concludes: it says so, or it has more of the question's words than any other."""
        if say.CONCLUDES.match(self.low, *sentences[-1]):
            return True
        asked = set(_TOKEN.findall(self.options.question))
        shares = [len(asked & set(_TOKEN.findall(self.low[start:end]))) for start, end in sentences]
        return shares[-1] > max(shares[:-1], default=0) and shares[-1] > 1
