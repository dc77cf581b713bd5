"""Recognise the texts of a failing server in place of an answer: always by the whole text, never by a word in it.

A prediction file has whatever its writer received. If a request failed, lmms-eval writes `[LMMS_EVAL_REQUEST_FAILED
...]`, VLMEvalKit `Failed to obtain answer via API.`, and many scripts write the exception's text or the body of the
response. Such a text says nothing about the model, so the careful reading leaves the sample unscored.

An honest answer can also mention rate limits, timeouts and errors. So a text is a failure only if all of it is one: a
marker of a known tool, the text of a known exception, an error body or error page of a server, or a sentence that
only a server writes. Patterns are never searched inside a text, and long texts are not checked.
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

import msgspec

from grader.predictions import failure_patterns as patterns
from grader.predictions.failure_patterns import FailureKind

if TYPE_CHECKING:
    from collections.abc import Collection

_LONGEST = 20_000
"""Maximum length in characters; error pages of proxies have up to about 10,000."""
_ONE_LINE = 600
"""Maximum length, in characters, of a message that is recognised by its wording only."""
_SHOWN = 160
"""Number of characters of the text that a report shows."""
_MOST_CLASSES = 5


class ServerFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The error that a request returned instead of an answer."""

    kind: FailureKind
    text: str
    """The start of the text, on one line."""

    @property
    def sentence(self) -> str:
        """The failure as a sentence."""
        return f"the model's server failed ({self.kind}): {self.text}"


def read_failure(text: str, options: Collection[str] = ()) -> ServerFailure | None:
    """Return the failure in a prediction; None if it can be a model's answer.

    `options` are the possible texts of an answer to this task. A prediction equal to one of them is always an answer.
    """
    said = text.strip() if len(text) <= 2 * _LONGEST else ""
    if not said or len(said) > _LONGEST or any(said.casefold() == option.strip().casefold() for option in options):
        return None
    kind = _marker(said) or _exception(said) or _body(said) or _page(said) or _message(said)
    return ServerFailure(kind=kind, text=_shortened(said)) if kind else None


def failure_of_error(error: str) -> ServerFailure:
    """Return the failure that a record's error describes, beside an empty prediction."""
    said = error[:_LONGEST].strip()
    kind = _marker(said) or _exception(said) or _body(said) or _kind_in(said)
    return ServerFailure(kind=kind or "request failed", text=_shortened(said))


def _shortened(text: str) -> str:
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _marker(said: str) -> FailureKind | None:
    """Recognise the text that evaluation tools write in place of an answer."""
    if said in patterns.MARKERS:
        return patterns.MARKERS[said]
    if found := patterns.LMMS_EVAL.fullmatch(said):
        return _kind_in(found["rest"]) or "request failed"
    found = patterns.VLMEVALKIT.fullmatch(said)
    return _of_vlmevalkit(found["rest"].strip(" :\n")) if found else None


def _of_vlmevalkit(rest: str) -> FailureKind | None:
    """Recognise the text that VLMEvalKit writes after its marker; an answer could begin with the same words."""
    if not rest or patterns.ERROR_CODE.fullmatch(rest):
        return "request failed"
    if patterns.LONG_INPUT.fullmatch(rest):
        return "refused request"
    # It appends the caught exception: its class, its text, or both.
    if printed := patterns.PRINTED_CLASS.match(rest):
        said = rest[printed.end() :]
        return _exception(said) or (None if patterns.OF_A_QUESTION.search(said) else _kind_in(rest) or "request failed")
    return _exception(rest) or _body(rest) or _message(rest)


# --- exceptions -------------------------------------------------------------------------------------------------


def _exception(said: str) -> FailureKind | None:
    """Recognise the text of a client's exception: openai, anthropic, google-genai, requests, httpx, litellm."""
    core, named, classes = said, False, 0
    while classes < _MOST_CLASSES:
        found = patterns.CLASS.match(core)
        named = named or found is not None
        found = found or patterns.PLAIN_ERROR.match(core)
        if found is None:
            break
        core, classes = core[found.end() :], classes + 1
    kind = _status(core) or _transport(core)
    if kind is None and classes:
        kind = _body(core) or _message(core) or (_phrase(core) if named else None)
    return kind


def _transport(core: str) -> FailureKind | None:
    """Recognise an exception that reports a missing response."""
    if patterns.OF_A_QUESTION.search(core):
        return None
    return next((kind for pattern, kind in patterns.TRANSPORT if pattern.fullmatch(core)), None)


def _status(core: str) -> FailureKind | None:
    """Recognise an exception that reports the status of the response."""
    if patterns.FILTERED.search(core):
        return None
    for pattern in (patterns.GOOGLE, patterns.REQUESTS, patterns.HTTPX):
        if (found := pattern.fullmatch(core)) and _is_tail(found.groupdict().get("rest")):
            return _of_status(int(found["code"]), core)
    found = patterns.STATUS.fullmatch(core)
    return _of_status(int(found["code"]), core) if found and _is_tail(found["rest"]) else None


def _is_tail(rest: str | None) -> bool:
    """Whether the text after a status is its body: an object, a page, or a short line with the same meaning."""
    if rest is None or rest[:1] + rest[-1:] in ("{}", "[]", "<>"):
        return True
    return len(rest) <= _ONE_LINE and not patterns.OF_A_QUESTION.search(rest) and _kind_in(rest) is not None


def _of_status(code: int, text: str) -> FailureKind:
    if code in (429, 529):
        return "rate limit"
    if code in (408, 504, 524):
        return "timeout"
    if code >= 500:
        return "server error"
    return "rate limit" if code in (402, 403) and _kind_in(text) == "rate limit" else "refused request"


# --- bodies and pages of responses ------------------------------------------------------------------------------


def _body(said: str) -> FailureKind | None:
    """Recognise an error object, as JSON or as Python prints it."""
    if said[:1] not in ("{", "[") or "rror" not in said[:400] or patterns.FILTERED.search(said):
        return None
    value = _parsed(said)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not value.keys() <= patterns.ENVELOPE:
        return None
    inner = value.get("error", value if value.get("object") == "error" else None)
    if isinstance(inner, str):
        return _message(inner) or _exception(inner) or _phrase(inner)
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return None
    if inner is not value and not inner.keys() <= patterns.INNER:
        return None
    return _of_error_object(inner, said)


def _of_error_object(inner: dict[str, object], said: str) -> FailureKind | None:
    code = str(inner.get("code"))
    if len(code) == 3 and code.isdecimal() and code[0] in "45":
        return _of_status(int(code), said)
    kind = _kind_in(said)
    return kind or ("request failed" if {"type", "code", "status"} & inner.keys() else None)


def _parsed(said: str) -> object:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(said)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _page(said: str) -> FailureKind | None:
    """Recognise the error page of a proxy: only HTML, with an error as its title."""
    if not said[:20].lower().startswith(("<html", "<!doctype html")) or not said[-20:].lower().endswith("</html>"):
        return None
    found = patterns.TITLE.search(said[:4000])
    title = found["title"].strip() if found else ""
    if not patterns.ERROR_TITLE.fullmatch(title):
        return None
    code = re.search(r"\b[45]\d\d\b", title)
    return _of_status(int(code[0]), title) if code else _kind_in(title) or "server error"


# --- sentences --------------------------------------------------------------------------------------------------


def _message(said: str) -> FailureKind | None:
    """Recognise a sentence that only a server writes, or a script that reports a status."""
    if not _is_short(said):
        return None
    if patterns.MESSAGES.fullmatch(said):
        return _kind_in(said) or "request failed"
    if found := patterns.NUMBERED.fullmatch(said):
        rest = found["rest"] or found["rest2"] or ""
        if not rest.strip(" ).:,;]-") or _kind_in(rest):
            return _of_status(int(found["code"] or found["code2"]), said)
    if (found := patterns.REASON.fullmatch(said)) and patterns.ADVICE.fullmatch(found["rest"]):
        return _kind_in(said) or "request failed"
    return None


def _phrase(said: str) -> FailureKind | None:
    """Recognise the text after the name of an exception: a short line about the request."""
    kind = _kind_in(said) if _is_short(said) and "\n" not in said else None
    return kind if kind in ("rate limit", "timeout", "no connection", "server error") else None


def _is_short(said: str) -> bool:
    """Whether a text has at most the length of a message, and mentions neither a question nor a filter."""
    return len(said) <= _ONE_LINE and not patterns.OF_A_QUESTION.search(said) and not patterns.FILTERED.search(said)


def _kind_in(text: str) -> FailureKind | None:
    """Return the kind of failure that the text of a known failure mentions."""
    return next((kind for pattern, kind in patterns.PHRASES if pattern.search(text)), None)
