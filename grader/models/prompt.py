"""How a scorer has a task asked: one or more requests, each with a text; and templates that replace its wording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.models.endpoint import Settings

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = "\x00image\x00"
"""Where a text has an image, if not before it."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a benchmark's official runs sample; None is not sent."""

    temperature: float | None = 0.0
    """For one sample a task."""
    temperature_of_several: float | None = None
    """For several samples a task; None: the same."""
    top_p: float | None = None
    max_tokens: int | None = None

    def settings(self, samples: int) -> Settings:
        """Return the settings for a number of samples a task."""
        several = samples > 1 and self.temperature_of_several is not None
        temperature = self.temperature_of_several if several else self.temperature
        return Settings(temperature=temperature, top_p=self.top_p, max_tokens=self.max_tokens)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One request about a task."""

    stage: str = "answer"
    text: Callable[[Mapping[str, str]], str]
    """Returns what is sent, given the answers of earlier turns by stage."""
    shows_images: bool = True
    is_greedy: bool = False
    """Asked at temperature 0, however many samples there are."""
    by_coder: bool = False
    """For the coder model, where there is one apart."""
    stop: str = ""
    """The answer ends before this text."""
    noted: dict[str, Any] = {}
    """Settings of the prompt that make an answer another one."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose about prompts."""

    protocol: str
    mode: str = ""
    """One of the scorer's modes; empty: its first."""
    shots: int = 0
    """Demonstrations in the prompt."""
    demonstrations: Mapping[str, list[Mapping[str, Any]]] = {}
    """Subject -> demonstrations, where there are shots."""
    template: str | None = None
    """A jinja2 template in place of the scorer's wording."""
    template_name: str = ""
    """Its file, for messages."""


def render(template: str, values: Mapping[str, Any], name: str) -> str:
    """Fill a template in; raises InputError naming it where it is wrong or uses what is not there."""
    import jinja2

    try:
        return str(_environment().from_string(template).render(values))
    except jinja2.TemplateSyntaxError as error:
        raise InputError([f"{name}:{error.lineno}: {error.message}"]) from error
    except jinja2.UndefinedError as error:
        known = ", ".join(sorted(values))
        raise InputError([f"{name}: {error.message}; a task has: {known}"]) from error
    except Exception as error:  # whatever the template's own expressions raise
        raise InputError([f"{name}: {type(error).__name__}: {error}"]) from error


def _environment() -> Any:
    import jinja2
    import jinja2.sandbox

    # The text goes to a model, not to a browser: nothing is escaped.
    return jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)


def load_template(path: Path) -> str:
    """Read a `--prompt` file; raises InputError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise InputError([f"{path}: is not UTF-8 text (byte {error.start})"]) from error
