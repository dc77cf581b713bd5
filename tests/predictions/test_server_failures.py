# ruff: noqa: E501 - texts as they are found
"""Texts that failing servers left are recognised whole; answers that speak of failures are answers."""

import io
import json

from grader.predictions.file import Ending, endings
from grader.predictions.read import read_predictions
from grader.predictions.server_failures import read_failure
from tests.growth import runs_of, too_slow
from tests.tables import each

FAILURES = [
    # lmms-eval
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 429 - {'error': {'message': 'Rate limit reached",
    "[LMMS_EVAL_REQUEST_FAILED after 3 retries] Request timed out.",
    # VLMEvalKit
    "Failed to obtain answer via API.",
    "Failed to obtain answer via bailingMM API.",
    "Failed to obtain answer via API. Input string longer than context window. ",
    "Failed to obtain answer via API. Error code: 500 - {'error': {'message': 'boom', 'type': 'server_error'}}",
    "Failed to obtain answer: <class 'openai.APITimeoutError'> Request timed out.",
    '{"error": "rate limit exceeded"}',
    '[{"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}}]',
    # openai, anthropic
    "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o in organization org-x on tokens per min "
    "(TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.', 'type': 'tokens', 'param': None, "
    "'code': 'rate_limit_exceeded'}}",
    "Error code: 400 - {'object': 'error', 'message': \"This model's maximum context length is 4096 tokens.\", 'type': "
    "'BadRequestError', 'param': None, 'code': 400}",
    "Request timed out.",
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
    # litellm, google, requests, httpx
    'litellm.RateLimitError: RateLimitError: MistralException - {"object":"error","message":"Rate limit exceeded",'
    '"type":"rate_limited","param":null,"code":"1300"}',
    "429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'Resource exhausted.', 'status': 'RESOURCE_EXHAUSTED'}}",
    "Server error '503 Service Unavailable' for url 'http://x/v1'\nFor more information check: https://httpstatuses.com/503",
    "HTTPSConnectionPool(host='api.openai.com', port=443): Max retries exceeded with url: /v1/chat/completions (Caused by "
    "NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection'))",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    # bodies and pages
    '{"error": {"message": "Rate limit reached", "type": "requests", "param": null, "code": "rate_limit_exceeded"}}',
    '{"object": "error", "message": "Internal server error", "type": "InternalServerError", "code": 500}',
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center>"
    "<hr><center>nginx</center></body>\r\n</html>",
    "upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
    # what scripts write
    "HTTP 429: rate limit exceeded, retry after 20 s",
    "API request failed with status code 500",
    "Internal Server Error",
    "$ERROR$",
    "The server is overloaded or not ready yet.",
    "Error: Failed to obtain answer via API.",
    "Error code: 503 - server error",
    "[ERROR] Connection error.",
    "**Error**: Connection error.",
    "API call failed: Connection error. (attempt 3 of 3)",
    "Error during generation: Request timed out. Please try again later.",
    "Failed to obtain answer via API. Giving up.",
]  # fmt: skip

ANSWERS = [
    "",
    "B",
    "The server returns 429, which means that the rate limit was exceeded, so the answer is B.",
    "Error code: 429 means a rate limit, so the correct option is C.",
    "Rate limit exceeded is what the screenshot says. The answer is A.",
    "The image shows the message \"Failed to obtain answer via API.\"",
    "Failed to obtain answer via API. The correct option is B.",
    "The log says [LMMS_EVAL_REQUEST_FAILED after 5 retries] Request timed out.",
    "A connection error.",
    "Error: the second step multiplies where it should add.",
    "TimeoutError",
    "[ERROR] The answer is a connection error.",
    "Error: Connection error. Please note that the correct answer is B.",
    "The steps fail: try again with x = 2.",
    "**Solution Correctness**: incorrect\n**First Error Step**: 3\n**Error Reason**: rate limit of the reaction",
    '{"error": "The step multiplies instead of adding", "step": 3}',
    '{"error": {"message": "no error"}, "answer": "B"}',
    "```python\ndef solution():\n    raise TimeoutError('Request timed out.')\n```",
    "def solution(x):\n    return {'error': {'message': 'rate limit', 'code': 429}}",
    "<html><head><title>My page</title></head><body>B</body></html>",
    "<html><head><title>502 Bad Gateway</title></head></html>\nThe answer is (B).",
    "Internal Server Error is shown, because the gateway has no upstream.",
    "429",
    "HTTP 500 means internal server error.",
    "The service is unavailable on Sundays.",
    "You have reached the rate of 5 m/s",
    "Connection reset by peer means that the other end closed the stream.",
    "Budget exceeded",
    "[SAFETY_BLOCKED:finish_reason=2]",
    "Error code: 400 - {'error': {'message': 'The response was filtered due to the prompt triggering Azure OpenAI\\'s "
    "content management policy.', 'code': 'content_filter', 'status': 400}}",
]  # fmt: skip


@each("text", FAILURES)
def test_what_a_failing_server_left_is_recognised(text: str) -> None:
    assert read_failure(text)


@each("text", ANSWERS)
def test_an_answer_that_speaks_of_failures_is_an_answer(text: str) -> None:
    assert read_failure(text) is None


@each("text", [text for text in FAILURES if "LMMS_EVAL" not in text])
def test_a_failure_inside_of_an_answer_is_none(text: str) -> None:
    assert read_failure(f"The picture shows a terminal.\n{text}\nSo the answer is (B).") is None
    assert read_failure(f"{text} So the answer is (B).") is None


def test_the_text_of_an_option_is_an_answer_whatever_it_says() -> None:
    assert read_failure("Bad Gateway") is not None
    assert read_failure(" bad gateway", ["OK", "Bad Gateway"]) is None


def test_long_texts_of_every_shape_are_read_in_linear_time() -> None:
    starts = ["Error: ", "{'error': ", "<html><title>", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] ", "a.a.", "Error code: 500 - ",
              "Failed to obtain answer via API. ", "HTTPSConnectionPool(host='", "429 ", "Rate limit exceeded "]  # fmt: skip
    for filler, run in runs_of(("a", "Error: ", "[", "{'a':", " ", "<title>", "(", "~", "rate limit ")).items():
        for length in (6_000, 1_000_000):
            assert too_slow(lambda text: [read_failure(start + text) for start in starts], {filler: run}, length) == []


def test_the_text_is_shown_on_one_short_line() -> None:
    found = read_failure("Error code: 500 - {'error':\n '" + "x" * 5000 + "'}")
    assert "\n" not in found
    assert len(found) < 200
    assert found.startswith("Error code: 500")


def test_endings_are_read_one_by_one_or_for_all() -> None:
    assert endings({"prompt": "p"}, 1) is None
    assert endings({"finish_reasons": ["stop", "length"], "errors": [None, ""]}, 2) == [
        Ending(finish_reason="stop"),
        Ending(finish_reason="length"),
    ]
    assert endings({"error": {"message": "boom"}}, 1) == [Ending(error="boom")]
    assert endings({"error": None, "finish_reason": "max_tokens"}, 2) == [Ending(finish_reason="max_tokens")] * 2
    assert endings({"finish_reasons": ["stop"]}, 2) is None


@each("reason", ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS"])
def test_a_finish_reason_tells_that_tokens_ran_out(reason: str) -> None:
    assert Ending(finish_reason=reason).is_cut
    assert not Ending(finish_reason="stop").is_cut


def test_endings_of_merged_records_stand_beside_their_predictions() -> None:
    records = [
        {"qid": "q", "predictions": ["a", "b"], "finish_reasons": ["stop", "length"]},
        {"qid": "q", "predictions": ["c"]},
        {"qid": "q", "predictions": [""], "error": "Request timed out."},
        {"qid": "r", "predictions": ["d"]},
    ]
    first, second = read_predictions("-", stdin=io.BytesIO(json.dumps(records).encode())).records
    assert first.predictions == ["a", "b", "c", ""]
    assert first.endings == [
        Ending(finish_reason="stop"),
        Ending(finish_reason="length"),
        Ending(),
        Ending(error="Request timed out."),
    ]
    assert second.endings is None
