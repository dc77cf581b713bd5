"""The texts of tools, clients and servers for a failed request, as patterns for whole texts.

Collected from lmms-eval, VLMEvalKit, FastChat, litellm, requests, httpx, the SDKs of OpenAI, Anthropic and Google, and
the error pages of nginx, envoy and Cloudflare. Every repetition has a limit, so no pattern is slow on any text.
"""

from __future__ import annotations

import re
from typing import Literal

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
