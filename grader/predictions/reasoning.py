"""The reasoning of a model inside its reply, whatever marks it: it is no part of the answer."""

from __future__ import annotations

import re

_NAMES = r"think(?:ing)?|thoughts?|analysis|reason(?:ing)?(?:_content)?|reflection|scratchpad|rationale|cot"
_TAG = re.compile(
    rf"(?:<|&lt;)(?P<close>/?)\|?(?P<edge>(?:begin|start|end)_(?:of_)?)?(?P<name>(?:[\w:.-]{{0,20}}think(?:ing)?)|{_NAMES})"
    r"[ \t]*\|?(?:>|&gt;)"
    r"|\[(?P<close2>/?)(?P<name2>think)\]|\u25c1(?P<close3>/?)(?P<name3>think)\u25b7"
    r"|<unused(?P<unused>\d{1,3})>(?P<thought>thought\b)?",
    re.IGNORECASE,
)
"""Tags around reasoning: any that ends in "think", in its styles, also escaped by a web page."""
_CHANNEL = re.compile(r"<\|?channel\|?>\s*(\w*)(?:[^\n]{0,80}?<\|message\|>)?", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:analysis|commentary)(?=\W|[A-Z])", re.DOTALL)
_JOINED_FINAL = re.compile(r"assistant\s*final(?=\W|[A-Z\d]|$)")
"""The channels of the harmony format after a decoder has removed its marks: "analysis...assistantfinal"."""


def hide_reasoning(text: str) -> tuple[str, bool]:
    """Blank the reasoning blocks of `text`; also return whether one is never closed (all text after it is ignored)."""
    if "channel" in text and (channels := [*_CHANNEL.finditer(text)]):
        return _last_channel(text, channels)
    if text.lstrip().startswith(("analysis", "commentary")) and _JOINED.match(text):
        *_, last = [None, *_JOINED_FINAL.finditer(text)]
        if last is not None:
            text = " " * last.end() + text[last.end() :]
    if not any(mark in text for mark in ("<", "[", "\u25c1", "&lt;")):
        return text, False
    return _without_tags(text)


def _last_channel(text: str, channels: list[re.Match[str]]) -> tuple[str, bool]:
    """Return a text with only its last channel, and whether even that is reasoning.

    A channel for the user is "final", or unnamed after the others. Blanks replace the rest.
    """
    last = channels[-1]
    if last[1].lower() in ("analysis", "commentary", "thought", "thinking"):
        before = text[: channels[0].start()]
        return before + " " * (len(text) - len(before)), True
    end = last.end() if last[1].lower() == "final" or not last[1] else last.start(1)
    return " " * end + text[end:], False


def _without_tags(text: str) -> tuple[str, bool]:
    pieces: list[str] = []
    done, opened, name = 0, -1, ""
    for tag in _TAG.finditer(text):
        closing, named = _kind(tag, opened >= 0)
        if not named:
            continue
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


def _kind(tag: re.Match[str], is_open: bool) -> tuple[bool, str]:
    """Return whether a tag closes a block, and the block's name; no name if the tag is none of reasoning."""
    if tag["unused"]:
        return (is_open, "unused") if is_open or tag["thought"] else (False, "")
    closing = any(tag[group] for group in ("close", "close2", "close3")) or (tag["edge"] or "").lower().startswith(
        "end"
    )
    return closing, next(tag[group].lower() for group in ("name", "name2", "name3") if tag[group])
