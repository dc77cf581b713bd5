"""The reasoning of a model inside its reply: blocks in tags, which are no part of the answer."""

from __future__ import annotations

import re

_TAGS = r"think(?:ing)?|analysis|reason(?:ing)?|thoughts?|reflection|scratchpad|rationale|cot|seed:think"
_REASONING = re.compile(
    rf"<(?P<close>/?)(?P<name>{_TAGS})\s*>|\[(?P<close2>/?)(?P<name2>think)\]"
    rf"|\u25c1(?P<close3>/?)(?P<name3>think)\u25b7"
    r"|<\|(?P<open4>begin|end)_of_(?P<name4>thought)\|>",
    re.IGNORECASE,
)
_HARMONY_FINAL = "<|channel|>final<|message|>"
_HARMONY_THOUGHT = "<|channel|>analysis"


def hide_reasoning(text: str) -> tuple[str, bool]:
    """Blank the reasoning blocks of `text`; also return whether one is never closed (all text after it is ignored)."""
    if _HARMONY_THOUGHT in text:
        final = text.rfind(_HARMONY_FINAL)
        if final < 0:
            return " " * len(text), True
        text = " " * (final + len(_HARMONY_FINAL)) + text[final + len(_HARMONY_FINAL) :]
    if not any(mark in text for mark in ("<", "[", "\u25c1")):
        return text, False
    pieces: list[str] = []
    done, opened, name = 0, -1, ""
    for tag in _REASONING.finditer(text):
        closing = any(tag[g] for g in ("close", "close2", "close3")) or (tag["open4"] or "").lower() == "end"
        named = next(tag[g].lower() for g in ("name", "name2", "name3", "name4") if tag[g])
        if opened < 0 and not closing:
            pieces.append(text[done : tag.start()])
            opened, name, done = tag.start(), named, tag.start()
        elif closing and opened >= 0 and named == name:
            pieces.append(" " * (tag.end() - done))
            opened, done = -1, tag.end()
        elif closing and opened < 0:
            # A closing tag without an opening one: the chat template had put the opening tag into the prompt.
            pieces = [" " * tag.end()]
            done = tag.end()
    if opened >= 0:
        return "".join(pieces) + " " * (len(text) - done), True
    return "".join(pieces) + text[done:], False
