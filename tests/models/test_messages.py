"""Messages as they are sent, recorded and told apart."""

from __future__ import annotations

import base64
import hashlib

import pytest

from grader.models.messages import (
    Image,
    ImageFacts,
    abbreviated,
    digest,
    facts,
    images,
    message,
    plain_text,
    user,
    wire,
)
from tests.models.made import PIXEL


def test_one_text_is_sent_as_a_string() -> None:
    assert wire((user("hello"),)) == [{"role": "user", "content": "hello"}]


def test_an_image_is_sent_as_the_bytes_it_has_and_where_it_stands() -> None:
    (sent,) = wire((user(Image(data=PIXEL, detail="high"), "What is it?"),))
    url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    assert sent["content"] == [
        {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
        {"type": "text", "text": "What is it?"},
    ]


def test_an_abbreviated_message_says_how_long_the_image_is() -> None:
    (sent,) = abbreviated((user(Image(data=PIXEL), "?"),))
    assert sent["content"][0] == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,<{len(PIXEL)} bytes>"},
    }


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PIXEL, "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"BM....", "image/bmp"),
        (b"unknown", "image/png"),
    ],
)
def test_the_bytes_tell_the_media_type(data: bytes, media_type: str) -> None:
    assert Image(data=data).media_type == media_type


def test_a_record_keeps_an_images_size_and_hash() -> None:
    digest_of_bytes = hashlib.sha256(PIXEL).hexdigest()
    expected = ImageFacts(sha256=digest_of_bytes, bytes=len(PIXEL), media_type="image/png", width=3, height=2)
    assert facts(Image(data=PIXEL)) == expected
    assert (facts(Image(data=b"no image")).width, facts(Image(data=b"no image")).height) == (0, 0)


def test_the_text_of_one_message_is_recorded_as_it_is_and_several_with_their_roles() -> None:
    assert plain_text((user("a", Image(data=PIXEL), "b"),)) == "a\nb"
    assert plain_text((message("system", "s"), user("u"))) == "[system]\ns\n\n[user]\nu"
    assert len(images((message("system", "s"), user(Image(data=PIXEL), "u", Image(data=b"x"))))) == 2


def test_every_part_of_what_is_sent_changes_the_digest() -> None:
    variants = [
        (user("a", "b"),),
        (user("ab"),),
        (user("a"), user("b")),
        (message("system", "a", "b"),),
        (user("a", Image(data=b"b")),),
        (user("a", Image(data=b"c")),),
        (user(Image(data=b"b"), "a"),),
    ]
    assert len({digest(each) for each in variants}) == len(variants)
    assert digest((user("a"),)) == digest((user("a"),))


def test_half_a_character_is_replaced() -> None:
    assert wire((user("x\ud83dy"),)) == [{"role": "user", "content": "x?y"}]
    assert plain_text((user("x\ud83dy"),)) == "x?y"
