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
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection

FailureKind = Literal[
    "rate limit", "budget exceeded", "timeout", "no connection", "server error", "refused request", "request failed"
]
_Table = tuple[tuple[re.Pattern[str], FailureKind], ...]


def _table(rows: tuple[tuple[str, FailureKind], ...], flags: re.RegexFlag) -> _Table:
    return tuple((re.compile(pattern, flags), kind) for pattern, kind in rows)


# --- markers of evaluation tools --------------------------------------------------------------------------------

MARKERS: dict[str, FailureKind] = {
    "[LMMS_EVAL_BUDGET_EXCEEDED]": "budget exceeded",
    "$ERROR$": "request failed",  # FastChat, and tools derived from it
    "API_ERROR": "request failed",
    "**NETWORK ERROR DUE TO HIGH TRAFFIC. PLEASE REGENERATE OR REFRESH THIS PAGE.**": "rate limit",  # FastChat
}
LMMS_EVAL = re.compile(r"\[LMMS_EVAL_(?:REQUEST_FAILED(?: after \d{1,6} retries)?|ERROR)\](?P<rest>[^\n]{0,400})")
VLMEVALKIT = re.compile(
    r"Fail(?:ed)? to obtain answer(?:\.| via(?: [A-Za-z]{1,20})? API\.?| [A-Za-z]{1,20} API\.?|(?=:)|$)(?P<rest>.*)",
    re.DOTALL,
)
ERROR_CODE = re.compile(r"\d{3,6}|[A-Z][A-Za-z_]{2,30}(?:\.[A-Za-z_]{2,40})?\d{0,6}\.?")
LONG_INPUT = re.compile(r"Input string longer than context window\.?")
PRINTED_CLASS = re.compile(r"<class '[\w.]{1,80}'> ?")

# --- exceptions of clients --------------------------------------------------------------------------------------

CLASS = re.compile(
    r"[A-Za-z_][\w.]{0,80}(?:Error|Exception|Timeout|Exhausted|Unavailable|TooManyRequests|DeadlineExceeded)"
    r"(?::| -)\s{1,3}"
)
"""The class name before an exception's text; litellm writes two and a provider."""
PLAIN_ERROR = re.compile(r"(?:API [Ee]rror|Error|ERROR|Exception):\s{1,3}")
STATUS = re.compile(
    r"(?:Error code|Status code|HTTP|HTTP [Ee]rror|Error):? (?P<code>[45]\d\d)(?: - (?P<rest>.*))?", re.DOTALL
)
GOOGLE = re.compile(r"(?P<code>[45]\d\d) [A-Z][A-Z_]{3,40}(?:\. ?(?P<rest>[{\[].*)|\.)?", re.DOTALL)
REQUESTS = re.compile(r"(?P<code>[45]\d\d) (?:Client|Server) Error: [^\n]{0,200} for url: \S{1,2000}")
HTTPX = re.compile(
    r"(?:Client|Server) error '(?P<code>[45]\d\d)[^'\n]{0,60}' for url '[^'\n]{1,2000}'"
    r"(?:\nFor more information check: \S{1,200})?"
)
TRANSPORT = _table(
    (
        (r"Request timed out\.?(?: \(timeout=[^\n]{1,60}\))?", "timeout"),
        (
            r"HTTPS?ConnectionPool\(host='[^'\n]{1,200}', port=\d{1,5}\): Read timed out\."
            r"(?: \(read timeout=[^\n)]{1,20}\))?",
            "timeout",
        ),
        (r"(?:The read operation|Timeout on reading data from socket|Read|The request) timed out\.?", "timeout"),
        (r"(?:upstream request|stream) timeout", "timeout"),
        (r"504 Deadline Exceeded", "timeout"),
        (r"Connection error\.?", "no connection"),
        (
            r"HTTPS?ConnectionPool\(host='[^'\n]{1,200}', port=\d{1,5}\): Max retries exceeded with url: .{1,1500}\)",
            "no connection",
        ),
        (r"\('Connection (?:aborted|broken)[.:][^\n]{0,400}\)", "no connection"),
        (r"Cannot connect to host [^\n]{1,300}", "no connection"),
        (r"\[Errno -?\d{1,5}\] [^\n]{1,120}", "no connection"),
        (
            r"(?:Connection reset by peer|Remote end closed connection without response"
            r"|Server disconnected(?: without sending a response)?"
            r"|peer closed connection without sending complete message body[^\n]{0,60})\.?",
            "no connection",
        ),
        (r"upstream connect error or disconnect/reset before headers\.[^\n]{0,300}", "no connection"),
        (r"no healthy upstream", "server error"),
        (r"error code: (?:5\d\d|10\d\d)", "server error"),
    ),
    re.DOTALL,
)
FILTERED = re.compile(r"content_filter|content management policy|SAFETY|safety|content_policy|moderation")
"""A provider that refuses to answer a question has not failed: this is an answer, although a poor one."""

# --- bodies and pages of servers --------------------------------------------------------------------------------

ENVELOPE = {"error", "type", "object", "message", "param", "code", "status", "request_id", "detail", "id", "created"}
INNER = {
    *("message", "type", "param", "code", "status", "details", "innererror", "metadata", "errors", "request_id"),
    *("provider_name", "object", "failed_generation"),
}
"""Keys of an error object, and of the object inside it."""
TITLE = re.compile(r"<title>\s{0,20}(?P<title>[^<]{0,200})</title>", re.IGNORECASE)
ERROR_TITLE = re.compile(
    r"[45]\d\d\b.{0,100}|.{0,60}\|\s{0,2}[45]\d\d\b.{0,60}|Error|Attention Required! \| Cloudflare"
    r"|Just a moment\.\.\.|Too Many Requests|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out"
    r"|Internal Server Error",
    re.DOTALL,
)

# --- sentences --------------------------------------------------------------------------------------------------

OF_A_QUESTION = re.compile(
    r"\b(?:answers?|options?|choices?|correct|incorrect|solution|step|therefore)\b|\([A-Z]\)|\bdef\b", re.IGNORECASE
)
"""Words about a question; a server's message has none."""
PHRASES = _table(
    (
        (r"\b(?:429|529)\b", "rate limit"),
        (
            r"too many requests|rate.?limit|quota|resource.?(?:has been )?exhausted|throttl|tokens per min"
            r"|requests per min|overloaded|insufficient.balance|credits? (?:is|are) (?:depleted|too low)",
            "rate limit",
        ),
        (r"budget", "budget exceeded"),
        (r"time.?out|timed out|deadline.?exceeded", "timeout"),
        (r"connection|connect error|disconnected|getaddrinfo|name resolution", "no connection"),
        (
            r"internal.?server.?error|bad gateway|service.?(?:temporarily.)?unavailable|server_?error"
            r"|server had an error|\bUNAVAILABLE\b|\b50[0234]\b",
            "server error",
        ),
        (
            r"context.?length|context window|invalid.?request|bad.?request|unauthori[sz]ed|api.?key|permission.?denied"
            r"|authentication|not found|\b40[0-4]\b",
            "refused request",
        ),
    ),
    re.IGNORECASE,
)
"""Patterns that give the kind of a known failure. They are searched in its text, and the first match decides."""
MESSAGES = re.compile(
    r"(?:Rate limit|Quota) (?:reached for|exceeded(?: for)?:?) [^\n]{1,500}"
    r"|You exceeded your current quota[^\n]{0,500}"
    r"|You(?:'ve| have) (?:hit|reached|exceeded) (?:the|your) (?:rate limit|quota|usage limit)[^\n]{0,300}"
    r"|Requests to the [^\n]{1,200} have exceeded (?:the )?(?:call|token) rate limit[^\n]{0,400}"
    r"|Resource (?:has been )?exhausted(?: \(e\.g\. check quota\)\.?|\. Please try again later[^\n]{0,300})"
    r"|(?:The )?(?:server|engine|model|service) (?:is|had|has been) (?:currently |temporarily )?"
    r"(?:overloaded|unavailable|an error while processing your request)[^\n]{0,400}"
    r"|This model's maximum context length is \d{1,9} tokens[^\n]{0,500}"
    r"|Incorrect API key provided[^\n]{0,300}",
    re.IGNORECASE,
)
NUMBERED = re.compile(
    r"(?:(?:HTTP|API|OpenAI|server|request)[ -]?)?"
    r"(?:(?:API )?(?:error|exception)|request failed|call failed|failed|status)"
    r"(?: with)?(?: (?:code|status|status code|HTTP))?[:\s(\[]{1,3}(?P<code>408|429|5\d\d)"
    r"(?P<rest>[)\].:,;\s-][^\n]{0,500})?"
    r"|HTTP(?:/\d(?:\.\d)?)? (?P<code2>408|429|5\d\d)(?P<rest2>[.:,;\s-][^\n]{0,500})?",
    re.IGNORECASE,
)
REASON = re.compile(
    r"(?:(?P<code>408|429|5\d\d)[\s:,-]{1,3})?(?:HTTP )?"
    r"(?:Too Many Requests|Rate limit (?:exceeded|reached)|RateLimitError|Internal Server Error|Bad Gateway"
    r"|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Request Time-?out)"
    r"(?P<rest>[.,:;!]?(?:[\s(][^\n]{0,300})?)",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"[\s.,:;!(]{0,5}(?:(?:please |try again|retry|wait|slow down|\{|\[|<|limit|for |on ).*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Text that can follow the reason: advice or a body, but not a sentence about it."""


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
    if said in MARKERS:
        return MARKERS[said]
    if found := LMMS_EVAL.fullmatch(said):
        return _kind_in(found["rest"]) or "request failed"
    found = VLMEVALKIT.fullmatch(said)
    return _of_vlmevalkit(found["rest"].strip(" :\n")) if found else None


def _of_vlmevalkit(rest: str) -> FailureKind | None:
    """Recognise the text that VLMEvalKit writes after its marker; an answer could begin with the same words."""
    if not rest or ERROR_CODE.fullmatch(rest):
        return "request failed"
    if LONG_INPUT.fullmatch(rest):
        return "refused request"
    # It appends the caught exception: its class, its text, or both.
    if printed := PRINTED_CLASS.match(rest):
        said = rest[printed.end() :]
        return _exception(said) or (None if OF_A_QUESTION.search(said) else _kind_in(rest) or "request failed")
    return _exception(rest) or _body(rest) or _message(rest)


# --- exceptions -------------------------------------------------------------------------------------------------


def _exception(said: str) -> FailureKind | None:
    """Recognise the text of a client's exception: openai, anthropic, google-genai, requests, httpx, litellm."""
    core, named, classes = said, False, 0
    while classes < _MOST_CLASSES:
        found = CLASS.match(core)
        named = named or found is not None
        found = found or PLAIN_ERROR.match(core)
        if found is None:
            break
        core, classes = core[found.end() :], classes + 1
    kind = _status(core) or _transport(core)
    if kind is None and classes:
        kind = _body(core) or _message(core) or (_phrase(core) if named else None)
    return kind


def _transport(core: str) -> FailureKind | None:
    """Recognise an exception that reports a missing response."""
    if OF_A_QUESTION.search(core):
        return None
    return next((kind for pattern, kind in TRANSPORT if pattern.fullmatch(core)), None)


def _status(core: str) -> FailureKind | None:
    """Recognise an exception that reports the status of the response."""
    if FILTERED.search(core):
        return None
    for pattern in (GOOGLE, REQUESTS, HTTPX):
        if (found := pattern.fullmatch(core)) and _is_tail(found.groupdict().get("rest")):
            return _of_status(int(found["code"]), core)
    found = STATUS.fullmatch(core)
    return _of_status(int(found["code"]), core) if found and _is_tail(found["rest"]) else None


def _is_tail(rest: str | None) -> bool:
    """Whether the text after a status is its body: an object, a page, or a short line with the same meaning."""
    if rest is None or rest[:1] + rest[-1:] in ("{}", "[]", "<>"):
        return True
    return len(rest) <= _ONE_LINE and not OF_A_QUESTION.search(rest) and _kind_in(rest) is not None


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
    if said[:1] not in ("{", "[") or "rror" not in said[:400] or FILTERED.search(said):
        return None
    value = _parsed(said)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not value.keys() <= ENVELOPE:
        return None
    inner = value.get("error", value if value.get("object") == "error" else None)
    if isinstance(inner, str):
        return _message(inner) or _exception(inner) or _phrase(inner)
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return None
    if inner is not value and not inner.keys() <= INNER:
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
    found = TITLE.search(said[:4000])
    title = found["title"].strip() if found else ""
    if not ERROR_TITLE.fullmatch(title):
        return None
    code = re.search(r"\b[45]\d\d\b", title)
    return _of_status(int(code[0]), title) if code else _kind_in(title) or "server error"


# --- sentences --------------------------------------------------------------------------------------------------


def _message(said: str) -> FailureKind | None:
    """Recognise a sentence that only a server writes, or a script that reports a status."""
    if not _is_short(said):
        return None
    if MESSAGES.fullmatch(said):
        return _kind_in(said) or "request failed"
    if found := NUMBERED.fullmatch(said):
        rest = found["rest"] or found["rest2"] or ""
        if not rest.strip(" ).:,;]-") or _kind_in(rest):
            return _of_status(int(found["code"] or found["code2"]), said)
    if (found := REASON.fullmatch(said)) and ADVICE.fullmatch(found["rest"]):
        return _kind_in(said) or "request failed"
    return None


def _phrase(said: str) -> FailureKind | None:
    """Recognise the text after the name of an exception: a short line about the request."""
    kind = _kind_in(said) if _is_short(said) and "\n" not in said else None
    return kind if kind in ("rate limit", "timeout", "no connection", "server error") else None


def _is_short(said: str) -> bool:
    """Whether a text has at most the length of a message, and mentions neither a question nor a filter."""
    return len(said) <= _ONE_LINE and not OF_A_QUESTION.search(said) and not FILTERED.search(said)


def _kind_in(text: str) -> FailureKind | None:
    """Return the kind of failure that the text of a known failure mentions."""
    return next((kind for pattern, kind in PHRASES if pattern.search(text)), None)
