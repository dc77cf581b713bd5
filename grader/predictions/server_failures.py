"""Recognise the texts of a failing server in place of an answer: always by the whole text, never by a word in it.

A prediction file has whatever its writer received. If a request failed, lmms-eval writes `[LMMS_EVAL_REQUEST_FAILED
...]`, VLMEvalKit `Failed to obtain answer via API.`, and many scripts write the exception's text or the body of the
response. Such a text says nothing about the model, so the careful reading leaves the sample unscored.

An honest answer can also mention rate limits, timeouts and errors. So a text is a failure only if all of it is one: an
error object, an error page, or a phrase of a tool, client or server with nothing about a question behind it. Before it
can stand words that announce an error ("[ERROR]", "API call failed:") and names of exceptions. Long texts are not
checked. (The 170,000 published outputs that were read for this project have no error text of a server: their authors
asked again. The texts here are from the tools' own code.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.files.json_text import parse_collection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_MAX_CHARS = 20_000
"""Maximum length; error pages of proxies have up to about 10,000."""
_MAX_MESSAGE_CHARS = 2_000
"""Maximum length of what follows a phrase; urllib3 prints the URL and three nested exceptions."""
_MAX_SHOWN_CHARS = 160
"""Number of characters of the text that a report shows."""

_WORDS = (
    r"too many requests|rate.?limit|quota|resource.?(?:has been )?exhausted|throttl|tokens per min|requests per min"
    r"|overloaded|insufficient.balance|credits? (?:is|are) (?:depleted|too low)|high traffic|budget|time.?out|timed out"
    r"|deadline.?exceeded|connection|connect error|disconnected|getaddrinfo|name resolution|cannot connect|\[errno"
    r"|internal.?server.?error|bad gateway|service.?(?:temporarily.)?unavailable|server[_ ]?error|healthy upstream"
    r"|server had an error|\bUNAVAILABLE\b|error code: 10\d\d|context.?length|context window|invalid.?request"
    r"|bad.?request|unauthori[sz]ed|api.?key|permission.?denied|authentication|not found"
)
"""Words in the error texts of servers."""
_KNOWN = re.compile(rf"(?<![\w.=])[45]\d\d\b|{_WORDS}", re.IGNORECASE)

# --- phrases of tools, clients and servers ----------------------------------------------------------------------

_TOOL_MARKER = re.compile(
    r"\[LMMS_EVAL_(?:BUDGET_EXCEEDED|REQUEST_FAILED(?: after \d{1,6} retries)?|ERROR)\][^\n]{0,400}"
    r"|\$ERROR\$|API_ERROR"  # FastChat, and tools derived from it
    r"|\*\*NETWORK ERROR DUE TO HIGH TRAFFIC\. PLEASE REGENERATE OR REFRESH THIS PAGE\.\*\*"
)
"""What evaluation tools write in place of an answer, as the whole text."""
_PREFIX = re.compile(
    r"(?=[^\n:]{0,60}(?:error|exception|fail))"
    r"(?:[\[(<*]{1,3}[a-z ]{3,60}[\])>*]{1,3}[\s:!-]{0,4}|[a-z ]{3,60}(?:[:!]| -)\s{1,3})"
    r"|[a-z_][\w.]{0,80}(?:error|exception|timeout|exhausted|unavailable|TooManyRequests|DeadlineExceeded)"
    r"(?::| -)\s{1,3}",
    re.IGNORECASE,
)
"""What scripts write before a failure, or the name of an exception's class (litellm writes two, and a provider).

It decides nothing: "Error: the second step is wrong" is an answer.
"""
_MAX_PREFIXES = 5
_PHRASE = re.compile(
    r"Fail(?:ed)? to obtain answer(?: via(?: [a-z]{1,20})? API\b| [a-z]{1,20} API\b|(?=[:.])|$)"  # VLMEvalKit
    r"|HTTPS?ConnectionPool\(host='[^'\n]{1,200}', port=\d{1,5}\): |Cannot connect to host |\[Errno -?\d{1,5}\] "
    r"|\('Connection (?:aborted|broken)|Remote end closed connection without response"
    r"|(?:Server disconnected|Connection reset by peer|(?:The read operation|Read|The request|Request) timed out)\b"
    r"(?! (?:and|because|in|means|so)\b)"
    r"|peer closed connection without sending complete message body|(?:upstream request|stream) timeout"
    r"|upstream connect error or disconnect/reset before headers|no healthy upstream"
    r"|Incorrect API key provided|This model's maximum context length is \d|Input string longer than context window"
    r"|You exceeded your current quota"
    r"|You(?:'ve| have) (?:hit|reached|exceeded) (?:the|your) (?:rate limit|quota|usage limit)"
    r"|Requests to the [^\n]{1,200} have exceeded (?:the )?(?:call|token) rate limit|(?:Rate limit|Quota) reached for "
    r"|(?:The |That )?(?:server|engine|model|service) (?:had an error while processing your request"
    r"|is (?:currently )?overloaded (?:with other requests|or not ready))",
    re.IGNORECASE,
)
"""Beginnings that no answer has: anything may follow that is not about a question."""
_STATUS = re.compile(
    r"(?=[^:\d]{0,60}(?:error|exception|failed|status|http))"
    r"(?:(?:HTTP(?:/\d(?:\.\d)?)?|API|OpenAI|server|client|request|call|error|exception|failed|status|code|with)"
    r"[ -]?){1,6}[:\s(\[']{0,3}(?:[45]\d\d|10\d\d)\b"
    r"|[45]\d\d (?:Client|Server) Error:|(?-i:[45]\d\d [A-Z][A-Z_]{3,40}\b)"
    r"|(?:(?:408|429|5\d\d)[\s:,-]{1,3})?(?:HTTP )?"
    r"(?:Too Many Requests|(?:Rate limit|Quota) (?:exceeded|reached)|Internal Server Error|Bad Gateway|Connection error"
    r"|Service (?:Temporarily )?Unavailable|(?:Gateway|Request) Time-?out|(?:504 )?Deadline Exceeded"
    r"|Resource (?:has been )?exhausted|RateLimitError"
    r"|(?:The )?(?:server|engine|model|service) (?:is|has been) (?:currently |temporarily )?"
    r"(?:overloaded|unavailable))\b",
    re.IGNORECASE,
)
"""A response's status, in figures or words. An answer can begin with them, too ("Bad Gateway is error_excerpt")."""
_REMARK = re.compile(
    r"[\W_]*(?:(?:please|try|retry|wait|slow down|attempt|after \d|giving up|skipp|traceback|limit"
    rf"|for (?:url|quota)|e\.g\.|{_WORDS}).*)?",
    re.DOTALL | re.IGNORECASE,
)
"""What can follow a status: advice, or the same failure in other words; not a sentence about it."""
_CONTENT_FILTER = re.compile(r"content_filter|content management policy|SAFETY|safety|content_policy|moderation")
"""A provider that refuses a question has not failed: this is an answer, although a poor one."""
_QUESTION_WORDS = re.compile(
    r"\b(?:answers?|options?|choices?|correct|incorrect|solution|step|therefore)\b|\([A-Z]\)|\bdef\b", re.IGNORECASE
)
"""Words about a question; a server's message has none."""

# --- bodies and pages of servers --------------------------------------------------------------------------------

_ERROR_KEYS = {
    *("error", "type", "object", "message", "param", "code", "status", "request_id", "detail", "id", "created"),
    *("details", "innererror", "metadata", "errors", "provider_name", "failed_generation"),
}
"""Keys of an error object."""
_ERROR_PAGE = re.compile(
    r"(?:<html|<!doctype html).{0,4000}?<title>\s{0,20}"
    r"(?:[45]\d\d\b[^<]{0,100}|[^<]{0,60}\|\s{0,2}[45]\d\d\b[^<]{0,60}|Error|Attention Required! \| Cloudflare"
    r"|Just a moment\.\.\.|Too Many Requests|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out"
    r"|Internal Server Error)\s{0,20}</title>.*</html>",
    re.DOTALL | re.IGNORECASE,
)


def read_failure(text: str, options: Collection[str] = ()) -> str | None:
    """Return the failure in a prediction as `error_excerpt` shows it; None if it can be a model's answer.

    `options` are the possible texts of an answer to this task. A prediction equal to one of them is always an answer.
    """
    if len(text) > _MAX_CHARS:
        return None
    stripped = text.strip()
    if any(stripped.casefold() == option.strip().casefold() for option in options):
        return None
    return error_excerpt(stripped) if any(map(_is_failure, _strip_prefixes(stripped))) else None


def error_excerpt(error: str) -> str:
    """Return the beginning of an error's text, on one line."""
    # Its blanks may be many, such as the indents of JSON.
    line = " ".join(error.strip()[: 4 * _MAX_SHOWN_CHARS].split())
    return line if len(line) <= _MAX_SHOWN_CHARS else f"{line[:_MAX_SHOWN_CHARS]}..."


def _strip_prefixes(text: str) -> Iterator[str]:
    """Yield a text, and what remains of it after each prefix such as `Error: ` or `openai.RateLimitError - `."""
    yield text
    for _ in range(_MAX_PREFIXES):
        prefix = _PREFIX.match(text)
        if prefix is None:
            return
        text = text[prefix.end() :]
        yield text


def _is_failure(text: str) -> bool:
    """Whether all of a text is a failure, with no prefix before it."""
    if _TOOL_MARKER.fullmatch(text) or _ERROR_PAGE.fullmatch(text) or _is_error_object(text):
        return True
    phrase = _PHRASE.match(text)
    beginning = phrase or _STATUS.match(text)
    if beginning is None or _CONTENT_FILTER.search(text):
        return False
    message = text[beginning.end() :].strip(" ).:,;]'-")
    if message[:1] + message[-1:] in ("{}", "[]", "<>"):  # the body: "Error code: 429 - {'error': ...}"
        return True
    if len(message) > _MAX_MESSAGE_CHARS or _QUESTION_WORDS.search(message):
        return False
    # After a phrase, anything: "You exceeded your current quota, see ..."; after a status, nothing or advice.
    return phrase is not None or _REMARK.fullmatch(message) is not None


def _is_error_object(text: str) -> bool:
    """Whether a text is an object with an error, as JSON or as Python prints it."""
    if "rror" not in text or _CONTENT_FILTER.search(text):
        return False
    value = parse_collection(text)
    if isinstance(value, list) and len(value) == 1:  # Gemini's API
        value = value[0]
    if not isinstance(value, dict) or not value.keys() <= _ERROR_KEYS:
        return False
    # OpenAI's API nests the error; vLLM sends it as the object itself.
    error = value.get("error", value if value.get("object") == "error" else None)
    if isinstance(error, str):
        return _is_failure(error)
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return False
    # A model can write {"error": {"message": "no solution"}}, too: a server adds a code, or its message is known.
    return bool({"type", "code", "status"} & error.keys()) or _KNOWN.search(text) is not None
