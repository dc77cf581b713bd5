"""Explanations of the metrics and rules of multiple choice, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "accuracy": "The share of questions that are answered correctly.",
    "circular_accuracy": "The share of questions that are answered correctly in every rotation of their options.",
    "vanilla_accuracy": "The share of questions that are answered correctly with the options in their first order.",
    "vanilla_accuracy_all_passes": "The share of correct answers over all rotations of all questions.",
    "starts_with_letter": "The text begins with the letter.",
    "answer_word": "The letter follows the word answer, choice or option.",
    "parenthesised": "The letter is in parentheses.",
    "letter_and_mark": "The letter is followed by a full stop or a closing bracket.",
    "standalone": "The letter is a word by itself, between blanks.",
    "none_matched": "No rule found an answer.",
    "token": "The letter is the only option letter in the text that is a word by itself.",
    "option_text": "The text contains the wording of exactly one option.",
    "answer_tag": "The answer is in an answer tag.",
    "bare_letter": "The text is little more than the letter.",
    "only_letter": "The letter is the only option that the text names.",
    "own_line": "The letter is on a line by itself.",
    "conclusion": "The text draws this answer as its conclusion.",
    "declaration": "The text declares this to be its answer.",
    "refusal": "The text refuses to answer.",
    "unclosed_reasoning": "The reasoning was cut off before an answer.",
    "elimination": "All other options are denied.",
    "several_answers": "The text names several answers.",
    "letter_and_text_disagree": "The letter and the wording name different options.",
    "judge": "A judge model read the answer.",
    "missing": "There is no prediction.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
