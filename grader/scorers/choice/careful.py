"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess.

`settling.settle` finds the claim that counts; `ChoiceReader.value` says which options a claim names: by their letters,
their texts, or numbers of statements. All other prose is for a judge.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from grader.scorers import place_wordings as wordings
from grader.scorers.choice.labels import Label, find_labels
from grader.scorers.choice.options import EDGE, ChoiceOptions, OptionText
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, reading_of
from grader.scorers.choice.selection import Problem, Selection, select_text, select_whole
from grader.scorers.own_words import OwnWords, content_words, own_words
from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.places import claims
from grader.scorers.plain_text import without_markup
from grader.scorers.settling import settle
from grader.scorers.yes_no import polarity

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

    from grader.scorers.places import Claim

Standing = Literal["denied", "doubted", "named"]

_SHORT = 600
"""Characters. In a longer reply, only forms, lines and the last sentences count: any derivation names options.

Of 495 labelled replies, 300 leaves one more without its letter, and 1,200 reads one wrong letter.
"""
_LONGEST_WITHOUT_DERIVATION = 120
"""Characters. In so short a reply, a quantity of an option is not one of a derivation. 30 and 480 read the same."""
_LAST = 3
"""Number of last sentences of a longer reply that can answer. With one, a labelled reply loses its letter."""
_CLAUSE = 110
"""Characters before an option that can be about it: a wording of `place_wordings` and the words that it allows."""
_BEFORE_LETTER = 40
"""Characters before a bare letter in which its clause begins, if it is the subject."""
_NO_CLAIM = "no declared answer, no box or tag, no line and no closing sentence with an option"


def read_choice(text: str, options: Mapping[str, str], question: str = "", *, several: bool = False) -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the span.

    `options` maps letters to their texts ("" if a text is not known). `several`: "A and C" is one answer, "AC".
    """
    reply = own_words(text, question)
    choices = ChoiceOptions(options, question, several=several)
    # A sentence is compared with the words of its question; those of the options are words of the question, too.
    reply.question = "\n".join((question, *choices.texts.values()))
    reply.options = tuple(choices.lower_texts.values())
    if not reply.problem:
        whole = select_whole(reply.unmarked, 0, choices)
        return _settle(reply, choices) if whole is None else reading_of(whole, choices)
    return no_answer(reply.problem, None, "the reply has nothing outside of its reasoning" if text.strip() else "")


def _settle(reply: OwnWords, choices: ChoiceOptions, *, is_content: bool = False) -> ChoiceReading:
    """Settle on a claim of a reply, or of a container's content."""
    reader = ChoiceReader(reply, choices, is_content=is_content)
    settled = settle(reply, reader.value, reader.agrees, must_match_question=True)
    if settled is None and reply.refuses and (refusal := wordings.REFUSES.search(reply.lower)):
        return no_answer("refusal", refusal.span(), "says that it has no answer")
    if settled is None:
        return no_answer("nothing_read", None, _NO_CLAIM)
    if settled.value is None:
        return no_answer("nothing_read", settled.claim.outer_span, "the last form of an answer names no option")
    if settled.is_contradicted:
        return ambiguous("several_answers", (settled.value.start, settled.value.end), "declares several options")
    return reading_of(reader.prefer_claim_without_problem(settled.value), choices)


class ChoiceReader:
    """Tells which options the claims of a reply name; its `_select` methods return None where none is named.

    `unmarked` is the reply without its markup, `lower` that in lower case; positions are the same in all of them.
    """

    def __init__(self, reply: OwnWords, options: ChoiceOptions, *, is_content: bool = False) -> None:
        self.is_content = is_content
        """Whether the reply is a container's content. Containers in it are not read as replies, or reading hangs."""
        self.reply = reply
        self.options = options
        self.unmarked, self.lower = reply.unmarked, reply.unmarked_lower

    def agrees(self, earlier: Selection, last: Selection) -> bool:
        """Whether an earlier claim agrees with the last one: the same options, or others and these ("A or B", "B").

        A letter can also be the text of another option: "the answer is at point E. Answer: A" (3 of 100,000, a label).
        """
        is_narrowed = bool(last.letters) and last.letters <= earlier.letters
        is_text_of_last = earlier.letters == {
            self.options.texts.get(letter, "").strip("()[]. ").upper() for letter in last.letters
        }
        return earlier.letters == last.letters or is_narrowed or is_text_of_last

    def prefer_claim_without_problem(self, selection: Selection) -> Selection:
        """Return this selection; if it has a problem ("B, red", if red is A), one of the same letters that has none.

        4 of 100,000, and a label.
        """
        if selection.problem is None:
            return selection
        others = (self.value(claim) for claim in claims(self.reply))
        return next(
            (other for other in others if other and other.letters == selection.letters and not other.problem), selection
        )

    def value(self, claim: Claim) -> Selection | None:
        """Return the options that a claim names; None if it names none. See `places` for the forms of claims."""
        if claim.is_cut:
            return None
        match claim.form:
            case "container" | "mark":
                return self._select_in_container(claim)
            case "declaration" | "choice" | "conclusion":
                return self._select_before_form(claim) if claim.is_before else self._select_after_form(claim)
            case "line":
                return self._select_in_line(claim)
            case "body":
                return self._select_in_body(claim)
            case _:
                return self._select_in_sentence(claim)

    # --- forms ---

    def _select_in_container(self, claim: Claim) -> Selection | None:
        """Return the options of a container, or of all parts of a claim that has several; None if a part names none."""
        letters = frozenset[str]()
        selection = None
        for part in claim.parts or ((claim.start, claim.end),):
            selection = self._select_in_content(slice(*part), claim.rule)
            if selection is None:
                return None
            letters |= selection.letters
        return selection and selection._replace(letters=letters)

    def _select_in_content(self, span: slice, rule: str) -> Selection | None:
        """Return the options of a container's content: it is one option's letter or text, or a small reply."""
        content = self.reply.text[span]
        selection = select_whole(without_markup(content), span.start, self.options)
        if selection is None and content.strip() and not self.is_content:
            selection = self._select_in_small_reply(content, span.start)
        # If one letter is read, the rule is the container's; else it stays that of the selection, which says why not.
        if selection is None or len(selection.letters) != 1 or selection.problem:
            return selection
        return selection._replace(rule=rule)

    def _select_in_small_reply(self, content: str, offset: int) -> Selection | None:
        """Return the options that a container's content says as a reply; `offset` is its position."""
        reply = OwnWords(content, "", self.reply.question, self.reply.options)
        reading = _settle(reply, self.options, is_content=True)
        if reading.span is None or reading.outcome == "no_answer":
            return None
        problem = Problem(reading.rule, reading.detail) if reading.outcome == "ambiguous" else None
        start, end = reading.span
        return Selection(frozenset(reading.letter or ()), offset + start, offset + end, reading.rule, problem)

    def _select_after_form(self, claim: Claim) -> Selection | None:
        """Return the options with which a form's content begins, or, behind a declaration, the only ones it names.

        Behind a conclusion ("so ..."), an option's text alone chooses nothing.
        """
        start = claim.start
        is_declaration = claim.form == "declaration"
        whole = select_whole(self.unmarked[start : claim.end], start, self.options)
        # The code below would take only the first of several letters, and does not read the number of an option.
        if whole is not None and (len(whole.letters) > 1 or (whole.rule == "ordinal" and is_declaration)):
            return whole
        filler = wordings.FILL_START.match(self.lower, start)
        behind_filler = filler.end() if filler else start
        # The search ends with the line, not with the claim: the words behind a letter tell whether it is a label.
        labels = self._labels(start, max(claim.end, self._line_end(start)))
        for label in labels:
            before_label = self.lower[behind_filler : label.start].strip(" ([\"'*")
            if not before_label:
                return self._select_leading_label(claim, label)
        leading_text = self.options.text_at(self.lower, behind_filler)
        if leading_text is not None and not wordings.CLAUSE_END.match(self.lower, leading_text.end):
            leading_text = None
        if is_declaration:
            return self._select_declared(claim, leading_text, labels)
        return select_text(leading_text) if leading_text is not None and claim.form == "choice" else None

    def _select_leading_label(self, claim: Claim, label: Label) -> Selection | None:
        """Return the options of the label with which a form's content begins, if nothing behind takes it back."""
        # "so B is larger" concludes something else than B.
        if claim.form == "conclusion" and not wordings.CLAUSE_END.match(self.lower, label.end):
            return None
        if any(after.match(self.lower, label.end) for after in (wordings.DENIED_AFTER, wordings.DOUBTED_AFTER)):
            return None
        return self._select_label(label, "declaration" if claim.form == "declaration" else "conclusion")

    def _select_declared(self, claim: Claim, leading_text: OptionText | None, labels: list[Label]) -> Selection | None:
        """Return a declaration's option: by its whole text, else `leading_text` at its start, else its only label.

        A selection without letters says that it refuses; None, that it names no option.
        """
        start, end = claim.start, claim.end
        letters = self.options.letters_with_text(self.unmarked[start:end])
        if len(letters) == 1:
            return Selection(frozenset(letters), start, end, "option_text")
        if leading_text is not None:
            return Selection(frozenset(leading_text.letter), start, leading_text.end, "option_text")
        labels_inside = [label for label in labels if start <= label.start < end]
        label = labels_inside[0] if len(labels_inside) == 1 else None
        if label is not None and label.is_certain and self._standing(label.start, label.end) == "named":
            return self._select_label(label, "declaration")
        if self.reply.heeds_refusals and wordings.REFUSES.search(self.lower, start, end):
            return Selection(frozenset(), *claim.outer_span, "refusal")
        return None

    def _select_before_form(self, claim: Claim) -> Selection | None:
        """Return the options with which the content before a form ends: "(B) is the answer"."""
        end = len(self.lower[: claim.end].rstrip(" \t\"'*)]}:,.-("))
        labels = self._labels(claim.start, claim.end)
        if not labels or labels[-1].end < end:
            return None
        # What follows is the form, so only the words before can deny the label.
        if self._standing(labels[-1].start, labels[-1].start) != "named":
            return None
        return self._select_label(labels[-1], "conclusion" if claim.form == "choice" else "declaration")

    def _select_label(self, label: Label, rule: str) -> Selection:
        """Return the options of a label; with a problem, if the text of another option stands beside it."""
        problem = None
        # A negated question can have an answer such as "B, not red".
        if label.conflict - label.letters and not self.is_negated:
            letters, others = " and ".join(sorted(label.letters)), " and ".join(sorted(label.conflict))
            problem = Problem("letter_and_text_disagree", f"names {letters} with the text of {others}")
        return Selection(label.letters, label.start, label.end, rule, problem)

    # --- lines ---

    def _select_in_line(self, claim: Claim) -> Selection | None:
        """Return the options of a line that is only a label or a text; the first line may also begin with a label."""
        bullet = _BULLET.match(self.unmarked, claim.start, claim.end)
        start = bullet.end() if bullet else claim.start
        end = len(self.unmarked[: claim.end].rstrip(_MARKS))
        if self.options.allow_several:
            # One of several labels in the reply is not the whole answer.
            whole = select_whole(self.unmarked[start:end], start, self.options)
            if whole or len(self._labels(0, len(self.lower))) > 1:
                return whole
        noun = _OPTION.match(self.lower, start)
        starts = (start, noun.end()) if noun else (start,)
        for label in self._labels(start, claim.end):
            if any(label.start in (first, first - 1) for first in starts):  # `_BULLET` includes the bracket of "(B)"
                return self._select_line_label(claim, label, start, end)
        return self._select_line_text(claim, start, end)

    def _select_line_label(self, claim: Claim, label: Label, start: int, end: int) -> Selection | None:
        """Return the options of the label with which a line begins; behind the first line, the label must be all of it.

        None for a line of a list of options.
        """
        behind_label = self.unmarked[min(label.end, end) : end].strip(" \t.,:;!)]*\"'-")
        is_only_letter = not behind_label and not label.has_text
        # A first line that is only a letter is an answer, also before a list of the options.
        if not is_only_letter and self._is_in_option_list(start):
            return None
        item_above = _ITEM.match(self.lower[: claim.start].rstrip("\n").rpartition("\n")[2])
        is_next_item = item_above is not None and ord(item_above[1].upper()) + 1 == ord(min(label.letters))
        if is_next_item:
            return None
        if not behind_label:
            return self._select_label(label, "own_line")
        is_first = not self.lower[: claim.start].strip()
        return self._select_marked_label(label, end) if is_first else None

    def _select_line_text(self, claim: Claim, start: int, end: int) -> Selection | None:
        """Return the option whose text is the last line, if the line above it is blank.

        `start`, `end`: the line without its bullet and marks.
        """
        lines_above, _, _ = self.lower[: claim.start].rpartition("\n")
        line_above = lines_above.rpartition("\n")[2]
        is_last = not line_above.strip() and not self.lower[claim.end :].strip()
        letters = self.options.letters_with_text(self.unmarked[start:end]) if is_last else []
        return Selection(frozenset(letters), start, end, "option_text") if len(letters) == 1 else None

    @heuristic(decides_per_100_000=26)
    def _select_marked_label(self, label: Label, end: int) -> Selection | None:
        """Return the label that begins a reply before a mark or its text ("B. Red"), if not all options follow."""
        mark = self.unmarked[label.letter_end : label.letter_end + 3].lstrip(" ")[:1]
        is_marked = mark in tuple(".,:;)-(\n") or self.unmarked[label.start] in "([" or label.has_text
        if not is_marked or self._standing(label.start, label.end) != "named":
            return None
        following = self._labels(label.end, end)
        letters = label.letters.union(*(other.letters for other in following))
        repeats_options = all(other.has_text for other in following) and letters == set(self.options.letters)
        return None if repeats_options else self._select_label(label, "leading")

    @cached_property
    def _lines_of_option_list(self) -> frozenset[int]:
        """Where lines of a list of options begin. A letter that comes again is no item: it is the answer."""
        starts: dict[str, int] = {}
        for item in _ITEM.finditer(self.lower):
            if item[1].upper() in self.options:
                starts.setdefault(item[1].upper(), item.start())
        is_list = len(starts) > 2 or len(starts) == len(self.options.letters) > 1
        return frozenset(starts.values()) if is_list else frozenset()

    @heuristic(needed_by="g5-mc-copied-choices", when_disabled=False)
    def _is_in_option_list(self, position: int) -> bool:
        """Whether a position is in a line of a list of options."""
        return self.lower.rfind("\n", 0, position) + 1 in self._lines_of_option_list

    # --- sentences ---

    def _select_in_body(self, claim: Claim) -> Selection | None:
        """Return the only option that a short reply names, or what it says of all options together."""
        if not self._is_short or self.reply.is_cut:
            return None
        if selection := self._select_none_fits(claim) or self._select_by_verdicts():
            return selection
        sentences = [(max(start, claim.start), end) for start, end in self.reply.sentences if end > claim.start]
        labels = [label for start, end in sentences for label in self._asserted_labels(start, end)]
        if labels:
            return self._select_asserted_labels(labels)
        letter = self.options.letter_of_statements(self.lower[claim.start : claim.end])
        if letter:
            return Selection(frozenset(letter), claim.start, claim.end, "option_text")
        by_text = self._select_by_text(claim.start, claim.end)
        return by_text or self._select_by_number(claim) or self._select_by_yes_or_no(claim)

    def _select_asserted_labels(self, labels: list[Label]) -> Selection | None:
        """Return the options of all labels; None if several labels name different ones, which no option combines."""
        letters = frozenset[str]().union(*(label.letters for label in labels))
        letters = self.options.resolve_combination(letters)
        if len(letters) > 1 and len(labels) > 1 and not self.options.allow_several:
            return None
        return self._select_label(labels[-1], "conclusion")._replace(letters=letters)

    def _select_in_sentence(self, claim: Claim) -> Selection | None:
        """Return the only option that a sentence names. Of a long reply, only the last sentences can answer.

        A sentence that does not begin with a conclusion ("so ...") has rivals, which may not name another option: the
        last sentences; in a short reply, those with at least as many words of the question.
        """
        if claim.rule == "conclusion":  # a sentence behind a form with a value: the form is the answer
            return None
        last_sentences = self.reply.sentences[-_LAST:]
        if not self._is_short and (claim.start, claim.end) not in last_sentences:
            return None
        selection = self._only_option(claim.start, claim.end)
        if selection is None or wordings.CONCLUDES.match(self.lower, claim.start):
            return selection
        rivals = self._as_near_to_question(claim) if self._is_short else last_sentences
        others = (self._only_option(*span) for span in rivals)
        return selection if all(other is None or other.letters == selection.letters for other in others) else None

    def _as_near_to_question(self, claim: Claim) -> list[tuple[int, int]]:
        """Return the sentences with at least as many words of the question as a claim."""
        overlap = self._question_overlap(claim.start, claim.end)
        return [span for span in self.reply.sentences if self._question_overlap(*span) >= overlap]

    def _question_overlap(self, start: int, end: int) -> int:
        """Return how many words of the question a sentence has."""
        return len(self.reply.question_words & content_words(self.reply.text[start:end]))

    def _only_option(self, start: int, end: int) -> Selection | None:
        """Return the only option that a span asserts by its label; without any label, by its text."""
        labels = self._asserted_labels(start, end)
        letters = frozenset[str]().union(*(label.letters for label in labels))
        if labels:
            return self._select_label(labels[-1], "conclusion") if len(letters) == 1 else None
        return self._select_by_text(start, end)

    def _asserted_labels(self, start: int, end: int) -> list[Label]:
        """Return the labels in a span that are named, and not denied, considered, compared or items of a list.

        A single letter without a mark must be the subject or the last word.
        """
        return [
            label
            for label in self._labels(start, end)
            if label.letters <= set(self.options.letters)
            and (label.is_certain or len(label.letters) > 1 or self._is_subject_or_last(label, end))
            and self._standing(label.start, label.end) == "named"
            and not wordings.DENIED_LATER.match(self.lower, label.end)
            and not self._is_in_option_list(label.start)
        ]

    @heuristic(decides_per_100_000=41, when_disabled=True)
    def _is_subject_or_last(self, label: Label, end: int) -> bool:
        """Whether a bare letter is the last word of a sentence, "I think B.", or its subject, "B remains."."""
        if not self.lower[label.end : end].strip(" .!*\"'\n\u3002"):
            return True
        if label.letters & {"A", "I"}:  # an article and a pronoun
            return False
        before = self.lower[max(0, label.start - _BEFORE_LETTER) : label.start].rpartition("\n")[2].strip(" ,*(\"'")
        follows_word = "a" <= before[-1:] <= "z"
        return not follows_word

    # --- texts of options, and replies about all of them ---

    def _select_by_text(self, start: int, end: int) -> Selection | None:
        """Return the only option whose text a span asserts."""
        texts = self.options.texts_in(self.lower, start, end) or self._texts_of_one_capital(start, end)
        if "=" in self.lower:  # a derivation: its numbers are no answers
            texts = [text for text in texts if any(map(str.isalpha, self.lower[text.start : text.end]))]
        if not texts:
            return None
        texts = self._asserted_texts(texts)
        if len({text.letter for text in texts}) != 1 or self.reply.has_refused:
            return None
        letter = texts[0].letter
        return None if self._is_doubtful_text(letter, start, end) else select_text(texts[-1])

    def _is_doubtful_text(self, letter: str, start: int, end: int) -> bool:
        """Whether an option's text in a span may stand for something else than the option."""
        # An option that combines others is chosen by its letter, not by quoting a part of it.
        if self.options.is_combined(letter):
            return True
        is_part = self.options.may_mean_longer_option(letter, self.lower[start:end])
        return is_part or self._is_label_denied(letter, start)

    def _asserted_texts(self, texts: Iterable[OptionText]) -> list[OptionText]:
        """Return the texts that are asserted; if the question asks for what is not so, those that are denied.

        Texts joined by "or" are denied or doubted together: "It could be a dog or a wolf."
        """
        by_standing: dict[Standing, list[OptionText]] = {"denied": [], "doubted": [], "named": []}
        standing: Standing = "named"
        end = 0
        for text in texts:
            if not self._is_in_option_list(text.start):
                is_denied = wordings.DENIED_LATER.match(self.lower, text.end)
                if standing == "named" or not _OR.fullmatch(self.lower, end, text.start):
                    standing = "denied" if is_denied else self._standing(text.start, text.end)
                by_standing[standing].append(text)
                end = text.end
        return (self.is_negated and by_standing["denied"]) or by_standing["named"]

    def _is_label_denied(self, letter: str, start: int) -> bool:
        """Whether a reply that asserts an option's text denies the option's label behind it, from `start` on.

        If the question asks for what is not so, "A is not a mammal" is no denial: it is why A is chosen.
        """
        labels = [label for label in self._labels(start, len(self.lower)) if letter in label.letters]
        return not self.is_negated and any(self._standing(label.start, label.end) == "denied" for label in labels)

    def _select_by_number(self, claim: Claim) -> Selection | None:
        """Return the only option whose number the reply has, if it is too short for a derivation and has no LaTeX."""
        if len(self.lower.strip()) > _LONGEST_WITHOUT_DERIVATION or "\\" in self.reply.text:
            return None
        letters = self.options.letters_of_numbers(self.reply.text)
        # Of these texts, none is asserted, or they are terms of a derivation.
        others = {text.letter for text in self.options.texts_in(self.lower, claim.start, claim.end)} - letters
        if others:
            return None
        return Selection(frozenset(letters), claim.start, claim.end, "option_text") if len(letters) == 1 else None

    @heuristic(needed_by="g5-mc-verdict-for-each-option")
    def _select_by_verdicts(self) -> Selection | None:
        """Return the only option that a list of the options calls right.

        A line that copies an option is no verdict without a sign before it ("✓ A."), even if the text says "right".
        """
        lines = [*wordings.VERDICTS.finditer(self.lower)]
        right_lines = [line for line in lines if wordings.RIGHT.search(line[0]) and not wordings.WRONG.search(line[0])]
        right_lines = [line for line in right_lines if line["before"] or not self._is_copy(line)]
        letters = {line["letter"].upper() for line in right_lines}
        if len(lines) < 2 or len(letters) != 1 or not letters <= set(self.options.letters):
            return None
        return Selection(frozenset(letters), *right_lines[0].span("letter"), "conclusion")

    def _is_copy(self, line: re.Match[str]) -> bool:
        """Whether a line with a letter has the option's own text and nothing else."""
        text = self.options.lower_texts.get(line["letter"].upper(), "")
        return self.lower[line.end("letter") : line.end()].strip(EDGE) == text.strip(EDGE)

    def _texts_of_one_capital(self, start: int, end: int) -> list[OptionText]:
        """Return where a capital is an option's whole text, and no label ("the formula C"); A and I are words, too."""
        texts = self.options.texts.items()
        letters = {text: k for k, text in texts if len(text) == 1 and text.isupper() and text not in "AI"}
        capitals = _CAPITAL.finditer(self.unmarked, start, end) if letters else ()
        return [OptionText(letters[m[0]], *m.span()) for m in capitals if m[0] in letters]

    @heuristic(decides_per_100_000=67)
    def _select_by_yes_or_no(self, claim: Claim) -> Selection | None:
        """Return yes or no, or true or false, if these are the options and the whole reply says so; else None."""
        letters = {text: letter for letter, text in self.options.lower_texts.items()}
        pair = next((pair for pair in (("yes", "no"), ("true", "false")) if letters.keys() >= set(pair)), None)
        agrees = polarity(self.lower.strip(), self.options.question) if pair else None
        if pair is None or agrees is None:
            return None
        letter = letters[pair[0] if agrees else pair[1]]
        return Selection(frozenset(letter), claim.start, claim.end, "yes_or_no")

    @heuristic(needed_by="none-of-the-options")
    def _select_none_fits(self, claim: Claim) -> Selection | None:
        """Return the option "none of the above" of a reply that says that no option fits."""
        letters = [k for k, text in self.options.lower_texts.items() if wordings.NONE_OPTION.search(text)]
        if len(letters) != 1:
            return None
        match = wordings.NONE_FITS.search(self.lower, claim.start, claim.end)
        # These words can also be an option's own text, and then say nothing about the others.
        if match is None or self.options.text_at(self.lower, match.start()) is not None:
            return None
        return Selection(frozenset(letters), *match.span(), "option_text")

    # --- what is said about an option ---

    @property
    def _is_short(self) -> bool:
        return len(self.lower.strip()) <= _SHORT

    @cached_property
    @heuristic(needed_by="C06-not-question", when_disabled=False)
    def is_negated(self) -> bool:
        """Whether the question asks for what is not so: its last sentence before a question mark, without quotes."""
        question = _QUOTED.sub(" ", self.options.question)
        sentences = _SENTENCE_END.split(question.rpartition("?")[0] or question)
        asking = next((sentence for sentence in reversed(sentences) if any(map(str.isalnum, sentence))), "")
        return bool(wordings.NEGATED_QUESTION.search(asking))

    def _standing(self, start: int, end: int) -> Standing:
        """Return what the words around an option say about it: "not B", "B is wrong", "if B"."""
        before = wordings.NOUN_BEFORE.sub("", self.lower[max(0, start - _CLAUSE) : start].rpartition("\n")[2])
        if wordings.DENIED_BEFORE.search(before) or wordings.DENIED_AFTER.match(self.lower, end):
            return "denied"
        if wordings.DOUBTED_BEFORE.search(before) or wordings.DOUBTED_AFTER.match(self.lower, end):
            return "doubted"
        return "named"

    def _line_end(self, position: int) -> int:
        end = self.lower.find("\n", position)
        return len(self.lower) if end < 0 else end

    def _labels(self, start: int, end: int) -> list[Label]:
        return find_labels(self.unmarked, self.reply.text, self.options, self._content_starts, (start, end))

    @cached_property
    def _content_starts(self) -> frozenset[int]:
        """Where the contents of forms begin."""
        fillers = (
            wordings.FILL_START.match(self.lower, claim.start) for claim in claims(self.reply) if not claim.is_before
        )
        ends = [filler.end() for filler in fillers if filler]
        return frozenset((*ends, *(end - 1 for end in ends)))  # one before: the filler includes a bracket, or "A"


_OR = Pattern(r"[\s,]*(?:or|nor)\s+(?:(?:an?|the)\s+)?")
_OPTION = Pattern(r"(?:option|choice)\b[\s.:*(]*")
_QUOTED = Pattern(r"\"[^\"\n]*\"")
_SENTENCE_END = Pattern(r"\n|[.?!](?=\s)")
_CAPITAL = Pattern(r"\b[A-Z]\b")
_MARKS = " \t-*+>#([\"'"
_BULLET = Pattern(r"[\s*+>#(\[\"']*(?:-+[ \t]+)?[\s*+>#(\[\"']*")
_ITEM = Pattern(r"^[ \t*+>#(\[\"'-]{0,12}(?:option )?([a-z])[).:\]]", 8)
