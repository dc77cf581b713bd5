"""The requests with which a scorer asks a task, and the templates that replace a scorer's prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from grader.errors import InputError
from grader.files.user_files import read_input

IMAGE = "\x00image\x00"
"""Marks the position of an image in a text; without it, the image is before the text."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sampling settings of a benchmark's official runs; None is not sent."""

    temperature: float | None = 0.0
    """For one sample per task."""
    temperature_of_several: float | None = None
    """For several samples per task; None: the same."""
    top_p: float | None = None
    max_tokens: int | None = None

    def settings(self, sample_count: int) -> dict[str, Any]:
        """Return the settings for so many samples per task."""
        has_several = sample_count > 1 and self.temperature_of_several is not None
        temperature = self.temperature_of_several if has_several else self.temperature
        return {"temperature": temperature, "top_p": self.top_p, "max_tokens": self.max_tokens}


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One request about a task."""

    stage: str = "answer"
    text: Callable[[Mapping[str, str]], str]
    """Returns the text to send, given the answers of earlier turns by stage."""
    shows_images: bool = True
    is_greedy: bool = False
    """Whether it is asked at temperature 0, for any number of samples."""
    by_coder: bool = False
    """Whether it is asked of the coder model, if there is a separate one."""
    stop: str = ""
    """The answer ends before this text."""
    extra_settings: dict[str, Any] = {}
    """Settings of the prompt that can change the answer."""


class PromptOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The user's options for prompts."""

    protocol: str
    mode: str = ""
    """One of the scorer's modes; empty: the first one."""
    shots: int = 0
    """Number of demonstrations in the prompt."""
    split: str = ""
    data: Path | None = None
    """The path of `--data`."""
    template: str | None = None
    """A jinja2 template that replaces the scorer's prompt."""
    template_name: str = ""
    """The name of its file, for messages."""


def render(template: str, values: Mapping[str, Any], name: str) -> str:
    """Fill in a template. Raises InputError with its name if it is invalid or uses undefined values."""
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment  # while another thread imports it, `jinja2` has no `sandbox`

    # The text is for a model, not for a browser, so it is not escaped.
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    try:
        return str(environment.from_string(template).render(values))
    except jinja2.TemplateSyntaxError as error:
        raise InputError([f"{name}:{error.lineno}: {error.message}"]) from error
    except jinja2.UndefinedError as error:
        known = ", ".join(sorted(values))
        raise InputError([f"{name}: {error.message}; a task has: {known}"]) from error
    except Exception as error:  # whatever the template's own expressions raise
        raise InputError([f"{name}: {type(error).__name__}: {error}"]) from error


def load_template(path: Path) -> str:
    """Read a file with a template, such as that of `--prompt`. Raises InputError."""
    try:
        return read_input(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([f"{path}: is not UTF-8 text (byte {error.start})"]) from error
