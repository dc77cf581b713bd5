"""How each prediction ended, as the file reports it: the server's finish reason, and an error beside an empty text.

`grade infer` writes `finish_reasons` beside `predictions`, one for each. Other writers have one `finish_reason` (or
`stop_reason`) per record, and an `error` or `errors` if a request failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.predictions.record import Row

_FINISH = ("finish_reasons", "finish_reason", "stop_reasons", "stop_reason")
_ERROR = ("errors", "error", "error_message", "exception")
_NAMES = frozenset((*_FINISH, *_ERROR))
_CUT = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "token_limit"))
"""The finish reasons of truncated answers: of OpenAI and vLLM, Anthropic and Gemini, OpenAI's newer API, Mistral."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How one prediction ended."""

    finish_reason: str = ""
    error: str = ""
    """The error of its request."""

    @property
    def is_cut(self) -> bool:
        """Whether the model ran out of tokens before its answer was complete."""
        return self.finish_reason.lower().rpartition(".")[2] in _CUT


NOTHING = Ending()


def endings(fields: Row, count: int) -> list[Ending] | None:
    """Return how each of a record's `count` predictions ended; None if the record does not say."""
    if _NAMES.isdisjoint(fields):
        return None
    finish, errors = (_each(fields, names, count) for names in (_FINISH, _ERROR))
    if not any(finish) and not any(errors):
        return None
    return [Ending(finish_reason=reason, error=error) for reason, error in zip(finish, errors, strict=True)]


def _each(fields: Row, names: tuple[str, ...], count: int) -> list[str]:
    """Return the first of these fields that has a value, for each prediction; a single text applies to all."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, list) and len(value) == count:
            return [_text(item) for item in value]
        if value not in (None, "", [], {}, False) and not isinstance(value, list):
            return [_text(value)] * count
    return [""] * count


def _text(value: object) -> str:
    """Return a finish reason or an error as text: for an object its message, for an absent value an empty text."""
    if isinstance(value, dict):
        said = value.get("message") or value.get("type") or value.get("code")
        return _text(said) if said else str(value)
    return "" if value is None or value is False else str(value)
