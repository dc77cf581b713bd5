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
    "answer_is": 'The letter follows the words "answer is".',
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
    "own_line": "The letter or text is on a line by itself.",
    "leading": "The reply begins with the letter or text.",
    "boxed": "The answer is in a LaTeX box.",
    "json": "The answer is a field of a JSON object.",
    "ordinal": "The text counts the options: the second one.",
    "words": "The text has the words of exactly one option.",
    "final_statement": "The last sentence names this option in words.",
    "highest_probability": "The text gives this option the highest probability.",
    "conclusion": "The text draws this answer as its conclusion.",
    "declaration": "The text declares this to be its answer.",
    "refusal": "The text refuses to answer.",
    "unclosed_reasoning": "The reasoning was cut off before an answer.",
    "elimination": "All other options are denied.",
    "several_answers": "The text names several answers.",
    "several_letters": "The text names several letters.",
    "several_texts": "The text contains the wordings of several options.",
    "letter_and_text_disagree": "The letter and the wording name different options.",
    "letter_is_a_text": "The letter is also the whole text of another option.",
    "outside_options": "The letter is not among the options.",
    "echo": "The text only repeats the options.",
    "empty": "The reply is empty, or has nothing after its reasoning.",
    "withdrawn": "The text withdraws its answer.",
    "denied_later": "The text declares an answer, and later denies it.",
    "left_open": "The text reconsiders its answer without a conclusion.",
    "contrary_conclusion": "The text declares one option, and concludes with another.",
    "loop": "The text goes back and forth between options, and breaks off.",
    "breaks_off": "The text goes on after its answer, and breaks off.",
    "nothing_read": "The text names no option as its answer.",
    "judge": "A judge model read the answer.",
    "missing": "There is no prediction.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
