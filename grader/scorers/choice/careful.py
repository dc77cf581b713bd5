"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess.

`places.settle` finds the claim that counts; `Choice.value` says which options a claim names: by their letters, their
texts, or numbers of statements. All other prose is for a judge.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from grader.scorers import place_wordings as say
from grader.scorers.choice.labels import Label, find_labels
from grader.scorers.choice.options import EDGE, ChoiceOptions
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as
from grader.scorers.own_words import OwnWords, content_words, own_words
from grader.scorers.patterns import Pattern, rule
from grader.scorers.places import claims, settle
from grader.scorers.plain_text import plain, without_markup
from grader.scorers.yes_no import polarity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.scorers.places import Claim

Standing = Literal["denied", "doubted", "named"]

_SHORT = 600
"""Characters. In a longer reply, only forms, lines and the last sentences count: any derivation names options.

Of 495 labelled replies, 300 leaves one more without its letter, and 1,200 reads one wrong letter.
"""
_SHORTEST = 120
"""Characters. In so short a reply, a quantity of an option is not one of a derivation. 30 and 480 read the same."""
_LAST = 3
"""Number of last sentences of a longer reply that can answer. With one, a labelled reply loses its letter."""
_LETTERS = Pattern(r"[A-Z](?:(?:[\s,/&+;\"']|and|or)*[A-Z])+")
_NOTHING = "no declared answer, no box or tag, no line and no closing sentence with an option"


class Selection(NamedTuple):
    """The options that a claim names; none: it says that there is no answer."""

    letters: frozenset[str]
    start: int
    end: int
    rule: str
    problem: tuple[str, str] | None = None
    """The rule and the explanation why it is not one option."""


def read_choice(text: str, options: Mapping[str, str], question: str = "", *, several: bool = False) -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the span.

    `options` maps letters to their texts ("" if a text is not known). `several`: "A and C" is one answer, "AC".
    """
    known = ChoiceOptions(options, question, several=several)
    whole = _only_options(plain(text), 0, known)
    if whole is not None:
        return _reading(whole, known)
    reply = own_words(text, question)
    reply.question = "\n".join((question, *known.texts.values()))
    reply.options = tuple(known.low.values())
    if reply.problem:
        return no_answer(reply.problem, None, "the reply has nothing outside of its reasoning" if text.strip() else "")
    return _read(reply, known)


def _read(reply: OwnWords, known: ChoiceOptions, *, is_content: bool = False) -> ChoiceReading:
    choice = Choice(reply, known, is_content=is_content)
    found = settle(reply, choice.value, choice.same, by_words=True)
    if found is None:
        refusal = say.REFUSES.search(reply.low) if reply.refuses else None
        return (
            no_answer("refusal", refusal.span(), "says that it has no answer")
            if refusal
            else no_answer("nothing_read", None, _NOTHING)
        )
    if found.value is None:
        return no_answer("nothing_read", found.claim.whole, "the last form of an answer names no option")
    if found.several:
        return ambiguous("several_answers", (found.value.start, found.value.end), "declares several options")
    return _reading(choice.without_problem(found.value), known)


def _reading(named: Selection, options: ChoiceOptions) -> ChoiceReading:
    span = (named.start, named.end)
    letters = options.combined(named.letters)
    if named.problem is not None and letters == named.letters:
        return ambiguous(named.problem[0], span, named.problem[1])
    if not letters:
        return no_answer(named.rule, span, "says that it has no answer")
    said = " and ".join(sorted(letters))
    if len(letters) > 1 and options.several and letters <= set(options.letters):
        return read_as("".join(sorted(letters)), named.rule, span)
    if len(letters) > 1:
        return ambiguous("several_answers", span, f"names {said}")
    if said not in options:
        return no_answer("outside_options", span, f"{said} is not among the options")
    return read_as(said, named.rule, span)


class Choice:
    """Which options the claims of a reply name."""

    def __init__(self, reply: OwnWords, options: ChoiceOptions, *, is_content: bool = False) -> None:
        self.is_content = is_content
        """Whether the reply is a container's content. Containers in it are not read as replies, or reading hangs."""
        self.reply = reply
        self.options = options
        self.shown, self.low = reply.shown, reply.shown_low

    def same(self, one: Selection, other: Selection) -> bool:
        """Whether two claims name the same options; a letter can be the text of another option."""
        texts = {self.options.texts.get(letter, "").strip("()[]. ").upper() for letter in other.letters}
        same = self.options.combined(one.letters) == self.options.combined(other.letters)
        return same or one.letters == texts or bool(other.letters and other.letters < one.letters)

    def without_problem(self, named: Selection) -> Selection:
        """Return the same options as another claim names them, without a problem, if there is one."""
        if named.problem is None:
            return named
        others = (self.value(claim) for claim in claims(self.reply))
        return next((one for one in others if one and one.letters == named.letters and not one.problem), named)

    def value(self, claim: Claim) -> Selection | None:
        """Return the options that a claim names; None if it names none."""
        if claim.is_cut:
            return None
        match claim.form:
            case "container" | "mark":
                return self._in_container(claim)
            case "declaration" | "choice" | "conclusion":
                found = self._before_form(claim) if claim.is_before else self._behind_form(claim)
                return found if claim.form == "declaration" else self._no_echo(found)
            case "line":
                return self._no_echo(self._line(claim))
            case "body":
                return self._body(claim)
            case _:
                return self._sentence(claim)

    def _no_echo(self, named: Selection | None) -> Selection | None:
        """Return what is named, unless it is all options: then the question is repeated."""
        is_echo = named is not None and len(named.letters) > 1 and named.letters == set(self.options.letters)
        return None if is_echo and not self.options.several else named

    # --- forms ---

    def _in_container(self, claim: Claim) -> Selection | None:
        parts = claim.parts or ((claim.start, claim.end),)
        found = [self._content(slice(*part), claim.rule) for part in parts]
        if None in found:
            return None
        letters = frozenset[str]().union(*(one.letters for one in found if one))
        return found[-1] and found[-1]._replace(letters=letters)

    def _content(self, span: slice, rule: str) -> Selection | None:
        """Return the options of a container's content, which is read as a small reply of its own."""
        content = self.reply.text[span]
        whole = _only_options(without_markup(content), span.start, self.options)
        if whole is None and content.strip() and not self.is_content:
            words = OwnWords(content, "", self.reply.question, self.reply.options)
            inner = _read(words, self.options, is_content=True)
            if inner.span is None or inner.outcome == "no_answer":
                return None
            start, end = (span.start + at for at in inner.span)
            problem = (inner.rule, inner.detail) if inner.outcome == "ambiguous" else None
            whole = Selection(frozenset(inner.letter or ()), start, end, inner.rule, problem)
        return whole and whole._replace(rule=rule if len(whole.letters) == 1 and not whole.problem else whole.rule)

    def _behind_form(self, claim: Claim) -> Selection | None:  # noqa: PLR0911 - one return a way to name an option
        """Return the options with which a form's content begins, or, behind a declaration, the only ones it names."""
        start, end = claim.start, claim.end
        bare = _only_options(self.shown[start:end], start, self.options)
        is_number = bare is not None and bare.rule == "ordinal" and claim.form == "declaration"
        if bare is not None and (len(bare.letters) > 1 or is_number):
            return bare
        labels = self._labels(start, max(end, self._line_end(start)))
        fill = say.FILL_START.match(self.low, start)
        at = fill.end() if fill else start
        lead = next((one for one in labels if not self.low[at : one.start].strip(" ([\"'*")), None)
        rule = "declaration" if claim.form == "declaration" else "conclusion"
        if lead is not None:
            goes_on = claim.form == "conclusion" and not say.CLAUSE_END.match(self.low, lead.stop)
            is_denied = any(after.match(self.low, lead.stop) for after in (say.DENIED_AFTER, say.DOUBTED_AFTER))
            return None if goes_on or is_denied else self._from_label(lead, rule)
        text = self.options.at(self.low, at)
        text = text if text and say.CLAUSE_END.match(self.low, text[1]) else None
        if claim.form != "declaration":
            is_named = text is not None and claim.form == "choice"
            return Selection(frozenset(text[0]), at, text[1], "option_text") if text and is_named else None
        whole = self.options.same(self.shown[start:end])
        if len(whole) == 1:
            return Selection(frozenset(whole), start, max(end, start + 1), "option_text")
        if text:
            return Selection(frozenset(text[0]), start, max(text[1], start + 1), "option_text")
        named = [label for label in labels if start <= label.start < end]
        if len(named) == 1 and named[0].certain and self._role(named[0].start, named[0].stop) == "named":
            return self._from_label(named[0], "declaration")
        if say.REFUSES.search(self.low, start, end) and self.reply.heeds_refusals:
            return Selection(frozenset(), *claim.whole, "refusal")
        return None

    def _before_form(self, claim: Claim) -> Selection | None:
        """Return the options with which the content before a form ends: "(B) is the answer"."""
        end = len(self.low[: claim.end].rstrip(" \t\"'*)]}:,.-("))
        labels = self._labels(claim.start, claim.end)
        if labels and labels[-1].stop >= end and self._role(labels[-1].start, labels[-1].start) == "named":
            return self._from_label(labels[-1], "conclusion" if claim.form == "choice" else "declaration")
        return None

    def _from_label(self, label: Label, rule: str) -> Selection:
        problem = None
        if label.conflict - label.letters and not self.is_negated:
            named, other = " and ".join(sorted(label.letters)), " and ".join(sorted(label.conflict))
            problem = ("letter_and_text_disagree", f"names {named} with the text of {other}")
        return Selection(label.letters, label.start, max(label.stop, label.start + 1), rule, problem)

    # --- lines ---

    def _line(self, claim: Claim) -> Selection | None:
        """Return the options of a line that has only a label or a text; of the first, those with which it begins."""
        mark = _BULLET.match(self.shown, claim.start, claim.end)
        start = mark.end() if mark else claim.start
        end = len(self.shown[: claim.end].rstrip(_MARKS))
        if self.options.several:
            whole = _only_options(self.shown[start:end], start, self.options)
            if whole or len(self._labels(0, len(self.low))) > 1:
                return whole
        word = _OPTION.match(self.low, start)
        starts = {start, start - 1, *((word.end(), word.end() - 1) if word else ())}
        label = next((one for one in self._labels(start, claim.end) if one.start in starts), None)
        first = not self.low[: claim.start].strip()
        if label is None:
            same = self.options.same(self.shown[start:end])
            apart = not self.low[: claim.start].rstrip(" \t")[:-1].rpartition("\n")[2].strip()
            if len(same) == 1 and (first or (apart and not self.low[claim.end :].strip())):
                return Selection(frozenset(same), start, end, "option_text")
            return None
        rest = self.shown[min(label.stop, end) : end].strip(" \t.,:;!)]*\"'-")
        is_text = rest and self.options.is_text_of(min(label.letters), self.shown[label.end : end])
        role = self._role(label.start, label.stop)
        before = _ITEM.match(self.low[: claim.start].rstrip("\n").rpartition("\n")[2])
        is_next = before is not None and ord(before[1].upper()) + 1 == ord(min(label.letters))
        if (
            role == "doubted"
            or (role == "denied" and not self.is_negated)
            or is_next
            or ((rest or label.has_text) and self._is_item(start))
        ):
            return None
        if not rest or is_text:
            return self._from_label(label, "own_line")
        return self._leading_label(label, end) if first else None

    @rule(26)
    def _leading_label(self, label: Label, end: int) -> Selection | None:
        """Return the label with which a reply begins, if a mark follows."""
        bracket = self.shown[label.start] in "(["
        behind = self.shown[label.end : label.end + 3].lstrip(" ")[:1]
        behind_it = self._labels(label.stop, end)
        others = {k for one in behind_it for k in one.letters}
        is_echo = all(one.has_text for one in behind_it) and others | label.letters == set(self.options.letters)
        listed = is_echo or (others - label.letters and self.shown[label.end : label.end + 1] == ":")
        marked = behind in tuple(".,:;)-(\n") or bracket or label.stop >= end or label.has_text
        return (
            self._from_label(label, "leading")
            if marked and not listed and self._role(label.start, label.stop) != "denied"
            else None
        )

    @cached_property
    def _items(self) -> frozenset[int]:
        """Where lines of a list of options begin. A letter that comes back alone is no item: it is the answer."""
        items = [(m.start(), self._line_end(m.end()), m[1].upper()) for m in _ITEM.finditer(self.low)]
        letters = {letter for _, _, letter in items} & set(self.options.letters)
        if not (len(letters) > 2 or len(letters) == len(self.options.letters) > 1):
            return frozenset()
        # Between an item and the next one there are only blank lines.
        pairs = itertools.pairwise(items)
        beside = {at for one, two in pairs if not self.low[one[1] : two[0]].strip() for at in (one[0], two[0])}
        first = {letter: start for start, _, letter in reversed(items)}
        return frozenset(at for at, _, letter in items if letter in letters and (at in beside or first[letter] == at))

    @rule("g5-mc-copied-choices", False)
    def _is_item(self, start: int) -> bool:
        """Whether a place is in a line of a list of options."""
        return self.low.rfind("\n", 0, start) + 1 in self._items

    # --- sentences ---

    def _body(self, claim: Claim) -> Selection | None:
        """Return the only option that a short reply names, or asserts with its text."""
        if len(self.low.strip()) > _SHORT or self.reply.is_cut:
            return None
        if found := self._none_fits(claim) or self._by_verdicts():
            return found
        spans = [(max(start, claim.start), end) for start, end in self.reply.sentences if end > claim.start]
        labels = [label for start, end in spans for label in self._asserted_labels(start, end)]
        if labels:
            letters = self.options.combined(frozenset[str]().union(*(label.letters for label in labels)))
            named = self._from_label(labels[-1], "conclusion")._replace(letters=letters)
            return self._no_echo(named) if len(letters) == 1 or len(labels) == 1 or self.options.several else None
        statement = self.options.of_statements(self.low[claim.start : claim.end])
        if statement:
            return Selection(frozenset(statement), claim.start, claim.end, "option_text")
        return self._by_text(claim.start, claim.end) or self._by_yes_or_no(claim)

    def _sentence(self, claim: Claim) -> Selection | None:
        """Return the only option that a sentence names; of a long reply, only one of its last sentences."""
        if claim.rule == "conclusion":
            return None
        last = self.reply.sentences[-_LAST:]
        if not self._is_short and (claim.start, claim.end) not in last:
            return None
        found = self._of_sentence(claim)
        if found is None or say.CONCLUDES.match(self.low, claim.start):
            return found
        if self._is_short:
            last = [span for span in self.reply.sentences if self._share(*span) >= self._share(claim.start, claim.end)]
        others = (self._of_sentence(claim._replace(start=start, end=end)) for start, end in last)
        return found if all(other is None or other.letters == found.letters for other in others) else None

    def _share(self, start: int, end: int) -> int:
        """Return how many words of the question a sentence has."""
        return len(self.reply.asked & content_words(self.reply.text[start:end]))

    def _of_sentence(self, claim: Claim) -> Selection | None:
        labels = self._asserted_labels(claim.start, claim.end)
        letters = frozenset[str]().union(*(label.letters for label in labels))
        if labels:
            return self._from_label(labels[-1], "conclusion") if len(letters) == 1 else None
        return self._by_text(claim.start, claim.end)

    def _asserted_labels(self, start: int, end: int) -> list[Label]:
        """Return the labels in a span that are named, and not denied, considered or compared."""
        return [
            label
            for label in self._labels(start, end)
            if label.letters <= set(self.options.letters)
            and (label.certain or len(label.letters) > 1 or self._closes(label, end))
            and self._role(label.start, label.stop, label) == "named"
            and not say.DENIED_LATER.match(self.low, label.stop)
            and not self._is_item(label.start)
        ]

    @rule(41, True)
    def _closes(self, label: Label, end: int) -> bool:
        """Whether a bare letter is the last word of a sentence, "I think B.", or what it is about, "B remains."."""
        if not self.low[label.stop : end].strip(" .!*)\"'\n\u3002"):
            return True
        return not label.letters & {"A", "I"} and not self.low[label.start - 40 : label.start].rpartition("\n")[
            2
        ].strip(" ,*(\"'").endswith(tuple("abcdefghijklmnopqrstuvwxyz"))

    def _by_text(self, start: int, end: int) -> Selection | None:
        """Return the only option whose text is asserted in a span; denied, if the question asks for what is not so."""
        places = self.options.places(self.low, start, end) or self._letters_as_texts(start, end)
        if "=" in self.low:
            places = [place for place in places if any(map(str.isalpha, self.low[slice(*place[:2])]))]
        if not places and len(self.low.strip()) <= _SHORTEST:
            equal = self.options.of_numbers(self.reply.text) if "\\" not in self.reply.text else set[str]()
            return Selection(frozenset(equal), start, end, "option_text") if len(equal) == 1 else None
        by_role: dict[Standing, list[tuple[int, int, frozenset[str]]]] = {"denied": [], "doubted": [], "named": []}
        for place in places:
            if not self._is_item(place[0]):
                role = "denied" if say.DENIED_LATER.match(self.low, place[1]) else self._role(*place[:2])
                by_role[role].append(place)
        counted = (by_role["denied"] if self.is_negated else []) or by_role["named"]
        letters = frozenset[str]().union(*(place[2] for place in counted))
        if self.reply.has_refused or len(letters) != 1:
            return None
        letter = min(letters)
        if self.options.may_be_part(letter) or self.options.is_part(letter, self.low[start:end]):
            return None
        labels = (one for one in self._labels(start, len(self.low)) if letters & one.letters)
        if not self.is_negated and any(self._role(one.start, one.stop) == "denied" for one in labels):
            return None
        return Selection(letters, *counted[-1][:2], "option_text")

    @rule("g5-mc-verdict-for-each-option")
    def _by_verdicts(self) -> Selection | None:
        """Return the only option that a list of the options calls right."""
        lines = [*say.VERDICTS.finditer(self.low)]
        right = [m for m in lines if (say.RIGHT.search(m[0]) and not say.WRONG.search(m[0]))]
        letters = {m["letter"].upper() for m in right}
        if len(lines) < 2 or len(letters) != 1 or not letters <= set(self.options.letters):
            return None
        return Selection(frozenset(letters), *right[0].span("letter"), "conclusion")

    def _letters_as_texts(self, start: int, end: int) -> list[tuple[int, int, frozenset[str]]]:
        """Return where a capital is an option's whole text, and no label ("the formula C")."""
        texts = {t: k for k, t in self.options.texts.items() if len(t) == 1 and t.isupper() and t not in "AI"}
        capitals = _CAPITAL.finditer(self.shown, start, end) if texts else ()
        return [(*m.span(), frozenset(texts[m[0]])) for m in capitals if m[0] in texts]

    @rule(67)
    def _by_yes_or_no(self, claim: Claim) -> Selection | None:
        """Return yes or no, or true or false, if these are the options and the reply as a whole says so."""
        sides = {text: letter for letter, text in self.options.low.items()}
        pair = next((pair for pair in (("yes", "no"), ("true", "false")) if sides.keys() == set(pair)), None)
        agrees = polarity(self.low.strip(), self.options.question) if pair else None
        if pair is None or agrees is None:
            return None
        return Selection(frozenset(sides[pair[not agrees]]), claim.start, claim.end, "yes_or_no")

    @rule("none-of-the-options")
    def _none_fits(self, claim: Claim) -> Selection | None:
        """Return the option "none of the above" of a reply that says that no option fits."""
        none = [k for k, text in self.options.low.items() if say.NONE_OPTION.search(text)]
        at = say.NONE_FITS.search(self.low, claim.start, claim.end) if len(none) == 1 else None
        if at is None or self.options.at(self.low, at.start()) is not None:
            return None
        return Selection(frozenset(none), *at.span(), "option_text")

    # --- what is said about an option ---

    @property
    def _is_short(self) -> bool:
        return len(self.low.strip()) <= _SHORT

    @cached_property
    @rule("C06-not-question", False)
    def is_negated(self) -> bool:
        """Whether the question asks for what is not so."""
        return bool(say.NEGATED_QUESTION.search(self.options.question))

    def _role(self, start: int, stop: int, label: Label | None = None) -> Standing:
        """Return what the words around an option say about it: "not B", "B is wrong", "if B".

        Before a label, its own noun and text are left out: "option red (B)".
        """
        left = self.low[self._clause_start(start) : start]
        line = left.rpartition("\n")[2]
        if label is not None:
            bare = line.rstrip(" (\"'*")
            own = [self.options.low.get(letter, "") for letter in label.letters]
            line = next((bare[: -len(text)] for text in own if text and bare.endswith(text)), line)
            line = say.NOUN_BEFORE.sub("", line)
        if say.DENIED_BEFORE.search(line) or say.DENIED_AFTER.match(self.low, stop):
            return "denied"
        if say.DOUBTED_BEFORE.search(say.BUT.split(line)[-1]) or say.DOUBTED_AFTER.match(self.low, stop):
            return "doubted"
        return "named"

    def _clause_start(self, start: int) -> int:
        """Return where the words before an option begin that are about it: its sentence, or the line before."""
        first = max(0, start - 110)
        cut = max(self.low.rfind(mark, first, start) for mark in (". ", "! ", "? ", ".\n", ";", "\u3002"))
        return max(first, cut + 1)

    def _line_end(self, at: int) -> int:
        end = self.low.find("\n", at)
        return len(self.low) if end < 0 else end

    def _labels(self, start: int, end: int) -> list[Label]:
        return find_labels(self.shown, self.reply.text, self.options, self._chosen_at, (start, end))

    @cached_property
    def _chosen_at(self) -> frozenset[int]:
        """Where the contents of forms begin."""
        starts = (say.FILL_START.match(self.low, claim.start) for claim in claims(self.reply) if not claim.is_before)
        return frozenset(at for fill in starts if fill for at in (fill.end(), fill.end() - 1))


_OPTION = Pattern(r"(?:option|choice)\b[\s.:*(]*")
_CAPITAL = Pattern(r"\b[A-Z]\b")
_MARKS = " \t-*+>#([\"'"
_BULLET = Pattern(r"[\s*+>#(\[\"']*(?:-+[ \t]+)?[\s*+>#(\[\"']*")
_ITEM = Pattern(r"^[ \t*+>#(\[\"'-]{0,12}(?:option )?([a-z])[).:\]]", 8)


def _only_options(text: str, at: int, options: ChoiceOptions) -> Selection | None:
    """Return the options of a text that is one letter, one option's text or number, or both; None if it is more."""
    if len(text) > 2 * options.longest + 60 and len(text.strip()) > 2 * options.longest + 60:
        return None
    end = len(text.rstrip(EDGE))
    start = end - len(text[:end].lstrip(EDGE))
    if start >= end:
        return None
    said, span = text[start:end], (at + start, at + end)
    is_letter = len(said) == 1 and said.isascii() and said.isalpha()
    if is_letter and said.upper() in options:
        return Selection(frozenset(said.upper()), *span, "bare_letter")
    same, letters = options.same(text), _letters_of(said, options)
    is_letter = is_letter and not same
    if is_letter or (len(letters) == 1 and not said.isdecimal()):
        return Selection(letters or frozenset(said.upper()), *span, "bare_letter")
    if same:
        of = f"the text of {' and '.join(same)}"
        return Selection(frozenset(same), *span, "option_text", ("option_text", of) if same[1:] else None)
    return Selection(letters, *span, "ordinal" if said.isdecimal() else "several_letters") if letters else None


def _letters_of(said: str, options: ChoiceOptions) -> frozenset[str]:
    """Return the options of a text that is only letters ("A, B", "B B B"), or the number of an option."""
    if said.isdecimal() and 0 < int(said[:3]) <= len(options.letters) and not options.have_numbers:
        return frozenset(options.letters[int(said[:3]) - 1])
    letters = [char for char in said if char.isupper()]
    if not _LETTERS.fullmatch(said) or not set(letters) <= set(options.letters):
        return frozenset()
    is_word = len(set(letters)) < len(letters) and (len(set(letters)) > 1 or said.isalpha())
    return frozenset() if is_word else frozenset(letters)
