"""What is read of a chat completion, and what is not read as an answer."""

import json
import subprocess
import sys
from typing import Any

from grader.models.replies import NOT_A_COMPLETION, Reply, Usage, read, split_reasoning
from tests.tables import each


def body(content: object, finish: object = "stop", **fields: Any) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **fields}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return json.dumps({"id": "1", "model": "served", "choices": [choice], "usage": usage}).encode()


USAGE = Usage(prompt_tokens=7, completion_tokens=3)


def test_an_answer_is_read_with_what_belongs_to_it() -> None:
    assert read(body("B", "length")) == Reply(content="B", finish_reason="length", usage=USAGE)


@each("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_under_both_of_its_names_and_kept_apart(field: str) -> None:
    reply = read(body("B", **{field: "let me see"}))
    assert (reply.content, reply.reasoning) == ("B", "let me see")


@each(
    ("content", "finish", "fields", "error", "reasoning"),
    [
        (None, "length", {"reasoning": "hm"}, "the reply has only reasoning: it was cut at the token limit", "hm"),
        (None, "MAX_TOKENS", {}, "the reply is empty: it was cut at the token limit", ""),
        ("", "stop", {"reasoning_content": "hm"}, "the reply has only reasoning", "hm"),
        ("<think>hm</think>\n\n", "stop", {}, "the reply has only reasoning", "hm"),
        (None, "stop", {}, "the reply is empty", ""),
        ("Half an ans", "content_filter", {}, "a content filter cut the reply", ""),
        ("Half an ans", "error", {}, "the server stopped the reply (finish_reason 'error')", ""),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told_with_its_reasoning_and_cost(
    content: object, finish: str, fields: dict[str, str], error: str, reasoning: str
) -> None:
    expected = Reply(error=error, reasoning=reasoning, finish_reason=finish, usage=USAGE)
    assert read(body(content, finish, **fields)) == expected


def test_a_reply_in_parts_is_joined_and_a_refusal_is_the_models_answer() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert read(body(parts)) == Reply(content="ab", finish_reason="stop", usage=USAGE)
    refused = read(body(None, refusal="I cannot help"))
    assert refused.content == "I cannot help"


@each(
    ("error", "said"),
    [({"message": "overloaded", "code": 502}, "overloaded"), ({"message": None, "code": 429}, "429"), ("no", "no")],
)
def test_an_error_inside_a_200_is_no_answer(error: object, said: str) -> None:
    assert read(json.dumps({"error": error}).encode()) == Reply(error=f"the reply contains an error: {said}")
    broken_off = {"message": {"content": "Half an ans"}, "error": error}
    assert read(json.dumps({"choices": [broken_off]}).encode()) == Reply(error=f"the reply contains an error: {said}")


@each(
    "content",
    [
        b"<html>",
        b"\xff\xfe",
        b"",
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"mess',
        b'{"choices": [], "x": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_chat_completion_is_told(content: bytes) -> None:
    assert read(content) == Reply(error=NOT_A_COMPLETION)


@each(
    ("content", "answer", "reasoning"),
    [
        ("<think>hm</think>B", "B", "hm"),
        ("\n<think>\nhm\n</think>\n\nB", "B", "hm"),
        ("hm\n</think>\n\nB", "B", "hm"),
        ("<think>hm", "<think>hm", ""),
        ("<think>a</think>b</think>c", "b</think>c", "a"),
        ("<think>a <think> b</think>c", "c", "a <think> b"),
        ("<think>hm</think> B", "B", "hm"),
        ("<think>hm</think>\n\n    return 1\n    # B", "    return 1\n    # B", "hm"),
        ("B\n<think>hm</think>", "B\n<think>hm</think>", ""),
        ("print(re.sub('<think>.*</think>', '', s))", "print(re.sub('<think>.*</think>', '', s))", ""),
        ("hm\n</thinking>\n\nwrite <think>", "write <think>", "hm"),
    ],
)
def test_reasoning_in_tags_is_split_off_as_a_servers_parser_does(content: str, answer: str, reasoning: str) -> None:
    assert split_reasoning(content) == (answer, reasoning)


FIRST_OF_ALL = """
import sys, threading
sys.setswitchinterval(1e-6)
from grader.models.replies import read

start = threading.Barrier(16)

def first():
    start.wait()
    assert read(sys.argv[1].encode()).content == "B"

threads = [threading.Thread(target=first) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_the_first_replies_may_come_to_several_threads_at_once() -> None:
    """Without a decoder that is there before the threads are, about every second of these processes crashes."""
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_OF_ALL, body("B").decode()], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


DEEP = b"[" * 960 + b"]" * 960


@each("code", [b"[]", b"{}", b"[429]", b"1e999", b"9" * 4000, DEEP])
def test_an_error_of_any_shape_is_no_answer(code: bytes) -> None:
    assert read(b'{"error": {"message": null, "code": %s}}' % code).error is not None


@each("count", [str(10**13), "9" * 400, "-1", "1.5", "true", "[]"])
def test_a_number_of_tokens_that_none_can_be_is_not_counted(count: str) -> None:
    found = read(body("B").replace(b'"prompt_tokens": 7', f'"prompt_tokens": {count}'.encode()))
    assert found == Reply(content="B", finish_reason="stop", usage=Usage(completion_tokens=3))
