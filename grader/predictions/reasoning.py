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
"""A channel of the harmony format (gpt-oss): `<|channel|>analysis<|message|>`."""
_UNMARKED_ANALYSIS = re.compile(r"\s*(?:analysis|commentary)(?=\W|[A-Z])")
_UNMARKED_FINAL = re.compile(r"assistant\s*final(?=\W|[A-Z\d]|$)")
"""Its channels after a decoder has removed the marks: "analysisWe need ...assistantfinalThe answer is B"."""


def hide_reasoning(text: str) -> tuple[str, bool]:
    """Blank the reasoning blocks of `text`; also return whether one is never closed (all text after it is ignored)."""
    if "channel" in text and (channels := [*_CHANNEL.finditer(text)]):
        return _last_channel(text, channels)
    if _UNMARKED_ANALYSIS.match(text) and (finals := [*_UNMARKED_FINAL.finditer(text)]):
        end = finals[-1].end()
        text = " " * end + text[end:]
    if not any(mark in text for mark in ("<", "[", "\u25c1", "&lt;")):
        return text, False
    return _blank_blocks(text)


def _last_channel(text: str, channels: list[re.Match[str]]) -> tuple[str, bool]:
    """Return a text with only its last channel, and whether even that is reasoning.

    The reply is behind the mark of the channel "final", or of another that is not for reasoning: a word there that is
    no known name is the first word of the reply. Blanks replace what is before.
    """
    last = channels[-1]
    if last[1].lower() in ("analysis", "commentary", "thought", "thinking"):
        before = text[: channels[0].start()]
        return before + " " * (len(text) - len(before)), True
    start = last.end() if last[1].lower() == "final" or not last[1] else last.start(1)
    return " " * start + text[start:], False


def _blank_blocks(text: str) -> tuple[str, bool]:
    """Blank the blocks between tags of reasoning; also return whether the last one is never closed."""
    pieces: list[str] = []
    position = 0  # the part of the text from here on is not yet in `pieces`
    open_block = ""  # its name; empty if no block is open
    for tag in _TAG.finditer(text):
        is_closing, name = _parse_tag(tag, in_block=bool(open_block))
        if not name:  # no tag of reasoning, such as `<unused5>` outside of a block
            continue
        if not open_block and not is_closing:
            pieces.append(text[position : tag.start()])
            open_block, position = name, tag.start()
        elif is_closing and name == open_block:
            pieces.append(" " * (tag.end() - position))
            open_block, position = "", tag.end()
        elif is_closing and not open_block:
            # A closing tag without an opening one: the chat template had put the opening tag into the prompt.
            pieces = [" " * tag.end()]
            position = tag.end()
    if open_block:
        return "".join(pieces) + " " * (len(text) - position), True
    return "".join(pieces) + text[position:], False


def _parse_tag(tag: re.Match[str], *, in_block: bool) -> tuple[bool, str]:
    """Return whether a tag closes a block, and the block's name; no name if the tag has nothing to do with reasoning.

    `</think>`, `<|end_of_thought|>`, `[/think]` close. `<unused94>thought` opens, and while a block is open, any
    `<unused95>` closes. (Each of the three styles of tags has its own groups: `close2`, `name2`.)
    """
    if tag["unused"]:
        return (in_block, "unused") if in_block or tag["thought"] else (False, "")
    is_end = (tag["edge"] or "").lower().startswith("end")
    is_closing = is_end or any(tag[group] for group in ("close", "close2", "close3"))
    return is_closing, next(tag[group].lower() for group in ("name", "name2", "name3") if tag[group])
