"""Messages as they are sent, recorded and told apart."""

import base64
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.models.messages import Image, images, message, plain_text, request_messages, user
from grader.models.prompt import load_template, render
from tests.models.made import PIXEL
from tests.tables import each


def test_an_image_is_sent_as_the_bytes_it_has_and_where_it_stands() -> None:
    (sent,) = request_messages((user(Image(data=PIXEL, detail="high"), "What is it?"),))
    url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    assert sent["content"] == [
        {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
        {"type": "text", "text": "What is it?"},
    ]


@each(
    ("data", "media_type"),
    [(b"\xff\xd8\xff\xe0rest", "image/jpeg"), (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"), (b"unknown", "image/png")],
)
def test_the_bytes_tell_the_media_type(data: bytes, media_type: str) -> None:
    assert Image(data=data).media_type == media_type


def test_the_text_of_one_message_is_recorded_as_it_is_and_several_with_their_roles() -> None:
    assert plain_text((user("a", Image(data=PIXEL), "b"),)) == "a\nb"
    assert plain_text((message("system", "s"), user("u"))) == "[system]\ns\n\n[user]\nu"
    assert len(images((message("system", "s"), user(Image(data=PIXEL), "u", Image(data=b"x"))))) == 2


def test_values_are_put_in_as_they_are_and_the_last_newline_stays() -> None:
    assert render("{{ question }}: <{{ n }}>\n", {"question": "a & {{ b }}", "n": 1}, "t") == "a & {{ b }}: <1>\n"


def test_a_template_is_filled_in_while_another_thread_loads_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is found by its name a moment before it is an attribute of its package."""
    import jinja2.sandbox

    monkeypatch.delattr(jinja2, "sandbox")
    assert render("{{ n }}", {"n": 1}, "t") == "1"


@each(
    ("template", "said"),
    [
        ("{{ questoin }}", "t.jinja: 'questoin' is undefined; a task has: options, question"),
        ("line\n{% if %}", "t.jinja:2: "),
        ("{{ question.__class__.__mro__ }}", "t.jinja: SecurityError: "),
        ("{{ question | nofilter }}", "t.jinja:1: No filter named 'nofilter'"),
        ("{{ 1 // 0 }}", "t.jinja: ZeroDivisionError: "),
    ],
)
def test_what_is_wrong_with_a_template_is_told_with_its_name(template: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        render(template, {"question": "q", "options": {}}, "t.jinja")
    assert str(caught.value).startswith(said)


def test_a_template_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_template(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8"):
        load_template(tmp_path / "binary")
    (tmp_path / "good").write_text("\ufeff{{ question }}")
    assert load_template(tmp_path / "good") == "{{ question }}"
