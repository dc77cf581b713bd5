"""Recognise the texts of a failing server in place of an answer: always by the whole text, never by a word in it.

A prediction file has whatever its writer received. If a request failed, lmms-eval writes `[LMMS_EVAL_REQUEST_FAILED
...]`, VLMEvalKit `Failed to obtain answer via API.`, and many scripts write the exception's text or the body of the
response. Such a text says nothing about the model, so the careful reading leaves the sample unscored.

An honest answer can also mention rate limits, timeouts and errors. So a text is a failure only if all of it is one: a
marker of a known tool, the names of exceptions before a status or a sentence that only clients and servers write, an
error object, or an error page; before it, words that announce an error ("[ERROR]", "API call failed:"), and behind it,
advice to try again. What it says is searched for its kind only after that. Long texts are not checked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.files.json_text import as_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FailureKind = Literal[
    "rate limit", "budget exceeded", "timeout", "no connection", "server error", "refused request", "request failed"
]

_LONGEST = 20_000
"""Maximum length in characters; error pages of proxies have up to about 10,000."""
_ONE_LINE = 600
"""Maximum length, in characters, of a message that is recognised by its wording only."""
_SHOWN = 160
"""Number of characters of the text that a report shows."""

# --- what a known failure says ----------------------------------------------------------------------------------

_CODE = re.compile(r"(?<![\w.=])[45]\d\d\b")
_WORDS: dict[FailureKind, str] = {
    "rate limit": (
        r"too many requests|rate.?limit|quota|resource.?(?:has been )?exhausted|throttl|tokens per min"
        r"|requests per min|overloaded|insufficient.balance|credits? (?:is|are) (?:depleted|too low)|high traffic"
    ),
    "budget exceeded": r"budget",
    "timeout": r"(?<!connection )time.?out|timed out|deadline.?exceeded",
    "no connection": r"connection|connect error|disconnected|getaddrinfo|name resolution|cannot connect|\[errno",
    "server error": (
        r"internal.?server.?error|bad gateway|service.?(?:temporarily.)?unavailable|server[_ ]?error|healthy upstream"
        r"|server had an error|\bUNAVAILABLE\b|error code: 10\d\d"
    ),
    "refused request": (
        r"context.?length|context window|invalid.?request|bad.?request|unauthori[sz]ed|api.?key|permission.?denied"
        r"|authentication|not found"
    ),
}
_KINDS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _WORDS.items()}
"""Patterns that give the kind of a known failure. They are searched in its text, and the first match decides."""


def _kind_in(text: str) -> FailureKind | None:
    """Return the kind of failure that the text of a known failure mentions, by words or by the status it begins with.

    A provider may send any of the codes for a request that it refuses because of credit.
    """
    code = _CODE.search(text[:80])
    worded = next((kind for kind, pattern in _KINDS.items() if pattern.search(text)), None)
    if code is None or (code[0] in ("402", "403") and worded == "rate limit"):
        return worded
    by_code: dict[str, FailureKind] = {"429": "rate limit", "529": "rate limit"}
    by_code |= dict.fromkeys(("408", "504", "524"), "timeout")
    return by_code.get(code[0], "server error" if code[0][0] == "5" else "refused request")


# --- markers of evaluation tools --------------------------------------------------------------------------------

MARKERS = frozenset(
    (
        "[LMMS_EVAL_BUDGET_EXCEEDED]",
        "$ERROR$",  # FastChat, and tools derived from it
        "API_ERROR",
        "**NETWORK ERROR DUE TO HIGH TRAFFIC. PLEASE REGENERATE OR REFRESH THIS PAGE.**",  # FastChat
    )
)
LMMS_EVAL = re.compile(r"\[LMMS_EVAL_(?:REQUEST_FAILED(?: after \d{1,6} retries)?|ERROR)\][^\n]{0,400}")
VLMEVALKIT = re.compile(
    r"Fail(?:ed)? to obtain answer(?:\.| via(?: [A-Za-z]{1,20})? API\.?| [A-Za-z]{1,20} API\.?|(?=:)|$)[ :\n]*"
    r"(?P<printed><class '[\w.]{1,80}'> ?)?(?P<rest>.*)",
    re.DOTALL,
)
"""It appends the caught exception: its class, its text, or both. An answer could begin with the same words."""
ERROR_CODE = re.compile(r"\d{3,6}|[A-Z][A-Za-z_]{2,30}(?:\.[A-Za-z_]{2,40})?\d{0,6}\.?")

ANNOUNCED = re.compile(
    r"(?=[^\n:]{0,60}(?:error|exception|fail))"
    r"(?:[\[(<*]{1,3}[a-z ]{3,60}[\])>*]{1,3}[\s:!-]{0,4}|[a-z ]{3,60}(?:[:!]| -)\s{1,3})",
    re.IGNORECASE,
)
"""What scripts write before a failure. It decides nothing: "Error: the second step is wrong" is an answer."""
ADVISED = re.compile(
    r"[\s.,;:!(\[-]{1,5}(?:(?:please|try again|retry|retries|attempt|after \d|giving up|skipp)[^\n]{0,200}"
    r"|Traceback \(most recent call last\):.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
"""What scripts write behind it."""

# --- exceptions of clients, sentences of servers ----------------------------------------------------------------

NAMES = re.compile(
    r"(?:(?P<named>[A-Za-z_][\w.]{0,80}(?:Error|Exception|Timeout|Exhausted|Unavailable|TooManyRequests"
    r"|DeadlineExceeded)(?::| -)\s{1,3})|(?:API [Ee]rror|Error|ERROR|Exception):\s{1,3}){0,5}"
)
"""The class names before an exception's text; litellm writes two and a provider."""
STATUS = re.compile(
    r"(?:(?=[^:\d]{0,60}(?:error|exception|failed|status|http))"
    r"(?:(?:HTTP(?:/\d(?:\.\d)?)?|API|OpenAI|server|client|request|call|error|exception|failed|status|code|with)"
    r"[ -]?){1,6}[:\s(\[']{0,3}[45]\d\d\b"
    r"|[45]\d\d (?:Client|Server) Error:|(?-i:[45]\d\d [A-Z][A-Z_]{3,40}\b))[ ).:,;\]'-]*(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)
"""The status of a response, as openai, requests, httpx, google-genai and scripts write it."""
_ADVICE = r"[\s.,:;!(]{0,5}(?:(?:please |try again|retry|wait|slow down|\{|\[|<|limit|for |on ).{0,300})?"
"""Text that can follow a status's own words: advice or a body, but not a sentence about it."""
_POOL = r"HTTPS?ConnectionPool\(host='[^'\n]{1,200}', port=\d{1,5}\): "
SENTENCE = re.compile(
    r"(?i:(?:(?:408|429|5\d\d)[\s:,-]{1,3})?(?:HTTP )?"
    r"(?:Too Many Requests|Rate limit (?:exceeded|reached)|RateLimitError|Internal Server Error|Bad Gateway"
    rf"|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Request Time-?out){_ADVICE})"
    r"|(?i:(?:Rate limit|Quota) (?:reached for|exceeded(?: for)?:?) [^\n]{1,500}"
    r"|You exceeded your current quota[^\n]{0,500}"
    r"|You(?:'ve| have) (?:hit|reached|exceeded) (?:the|your) (?:rate limit|quota|usage limit)[^\n]{0,300}"
    r"|Requests to the [^\n]{1,200} have exceeded (?:the )?(?:call|token) rate limit[^\n]{0,400}"
    r"|Resource (?:has been )?exhausted(?: \(e\.g\. check quota\)\.?|\. Please try again later[^\n]{0,300})"
    r"|(?:The )?(?:server|engine|model|service) (?:is|had|has been) (?:currently |temporarily )?"
    r"(?:overloaded|unavailable|an error while processing your request)[^\n]{0,400}"
    r"|This model's maximum context length is \d{1,9} tokens[^\n]{0,500}"
    r"|Input string longer than context window\.?|Incorrect API key provided[^\n]{0,300})"
    r"|Request timed out\.?(?: \(timeout=[^\n]{1,60}\))?"
    rf"|{_POOL}(?:Read timed out\.(?: \(read timeout=[^\n)]{{1,20}}\))?|Max retries exceeded with url: .{{1,1500}}\))"
    r"|(?:The read operation|Timeout on reading data from socket|Read|The request) timed out\.?"
    r"|(?:upstream request|stream) timeout|504 Deadline Exceeded|Connection error\.?"
    r"|\('Connection (?:aborted|broken)[.:][^\n]{0,400}\)|Cannot connect to host [^\n]{1,300}"
    r"|\[Errno -?\d{1,5}\] [^\n]{1,120}"
    r"|(?:Connection reset by peer|Remote end closed connection without response"
    r"|Server disconnected(?: without sending a response)?"
    r"|peer closed connection without sending complete message body[^\n]{0,60})\.?"
    r"|upstream connect error or disconnect/reset before headers\.[^\n]{0,300}|no healthy upstream"
    r"|error code: (?:5\d\d|10\d\d)",
    re.DOTALL,
)
FILTERED = re.compile(r"content_filter|content management policy|SAFETY|safety|content_policy|moderation")
"""A provider that refuses to answer a question has not failed: this is an answer, although a poor one."""
OF_A_QUESTION = re.compile(
    r"\b(?:answers?|options?|choices?|correct|incorrect|solution|step|therefore)\b|\([A-Z]\)|\bdef\b", re.IGNORECASE
)
"""Words about a question; a server's message has none."""

# --- bodies and pages of servers --------------------------------------------------------------------------------

KEYS = {
    *("error", "type", "object", "message", "param", "code", "status", "request_id", "detail", "id", "created"),
    *("details", "innererror", "metadata", "errors", "provider_name", "failed_generation"),
}
"""Keys of an error object, and of the object inside it."""
ERROR_PAGE = re.compile(
    r"(?:<html|<!doctype html).{0,4000}?<title>\s{0,20}"
    r"(?:[45]\d\d\b[^<]{0,100}|[^<]{0,60}\|\s{0,2}[45]\d\d\b[^<]{0,60}|Error|Attention Required! \| Cloudflare"
    r"|Just a moment\.\.\.|Too Many Requests|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out"
    r"|Internal Server Error)\s{0,20}</title>.*</html>",
    re.DOTALL | re.IGNORECASE,
)


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
    stripped = text.strip() if len(text) <= 2 * _LONGEST else ""
    if (
        not stripped
        or len(stripped) > _LONGEST
        or any(stripped.casefold() == option.strip().casefold() for option in options)
    ):
        return None
    return failure_of_error(stripped) if any(map(_is_failure, _parts(stripped))) else None


def _parts(text: str) -> Iterator[str]:
    """Yield a text, and what is left of it without up to three announcements of an error, and without advice."""
    for _ in range(4):
        yield text
        advice = ADVISED.search(text)
        if advice and not OF_A_QUESTION.search(advice[0]):
            yield text[: advice.start()]
        announced = ANNOUNCED.match(text)
        if announced is None:
            return
        text = text[announced.end() :]


def _is_failure(text: str) -> bool:
    return _is_from_tool(text) or _is_from_client(text) or _is_body(text) or bool(ERROR_PAGE.fullmatch(text))


def failure_of_error(error: str) -> ServerFailure:
    """Return the failure that an error's text describes; a record can have one beside an empty prediction."""
    stripped = error[:_LONGEST].strip()
    line = " ".join(stripped[: 4 * _SHOWN].split())
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
    return ServerFailure(kind=_kind_in(stripped) or "request failed", text=shown)


def _is_from_tool(text: str) -> bool:
    """Whether an evaluation tool wrote it in place of an answer."""
    if text in MARKERS or LMMS_EVAL.fullmatch(text):
        return True
    vlmevalkit = VLMEVALKIT.fullmatch(text)
    if vlmevalkit is None:
        return False
    rest = vlmevalkit["rest"]
    if vlmevalkit["printed"]:
        return not OF_A_QUESTION.search(rest)
    return not rest or bool(ERROR_CODE.fullmatch(rest)) or _is_from_client(rest) or _is_body(rest)


def _is_from_client(text: str) -> bool:
    """Whether it is the text of an exception, a status, or a sentence that only clients and servers write."""
    names = NAMES.match(text)
    core = text[names.end() :] if names else text
    if FILTERED.search(core):
        return False
    status = STATUS.fullmatch(core)
    if (status and _is_tail(status["rest"])) or (core != text and _is_body(core)):
        return True
    if OF_A_QUESTION.search(core):
        return False
    return bool(SENTENCE.fullmatch(core)) or bool(names and names["named"] and _is_about_requests(core))


def _is_tail(rest: str) -> bool:
    """Whether the text after a status is its body: an object, a page, or a short line with the same meaning."""
    if rest[:1] + rest[-1:] in ("", "{}", "[]", "<>"):
        return True
    return len(rest) <= _ONE_LINE and not OF_A_QUESTION.search(rest) and _kind_in(rest) is not None


def _is_about_requests(text: str) -> bool:
    """Whether a short line, behind the name of an exception, is about a request."""
    return len(text) <= _ONE_LINE and "\n" not in text and _kind_in(text) not in (None, "refused request")


def _is_body(text: str) -> bool:
    """Whether it is an error object, as JSON or as Python prints it."""
    if "rror" not in text[:400] or FILTERED.search(text):
        return False
    value = as_list(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not value.keys() <= KEYS:
        return False
    inner = value.get("error", value if value.get("object") == "error" else None)
    if isinstance(inner, str):
        return _is_from_client(inner) or (not OF_A_QUESTION.search(inner) and _is_about_requests(inner))
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str) or not inner.keys() <= KEYS:
        return False
    return bool({"type", "code", "status"} & inner.keys()) or _kind_in(text) is not None
