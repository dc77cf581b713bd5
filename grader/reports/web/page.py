"""A page from the template, with one style and one script. The page's policy allows only these, by hash."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from grader import resources
from grader.wording import clean

if TYPE_CHECKING:
    from markupsafe import Markup

_WEB = Path(__file__).resolve().parent


def render(**values: object) -> bytes:
    """Return a self-contained page with these values of its template."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    style = "\n" + (_WEB / "page.css").read_text("utf-8")
    script = "\n" + (_WEB / "page.js").read_text("utf-8")
    pages = Environment(loader=FileSystemLoader(_WEB), autoescape=True, undefined=StrictUndefined)
    pages.filters |= {"breakable": breakable, "with_code_spans": with_code_spans}
    page = pages.get_template("page.html.j2").render(
        version=resources.version(),
        policy=policy(style, script),
        # Trusted text: it must stay unescaped, so that a browser computes the same hash.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        **values,
    )
    # A lone surrogate, which only a damaged file can contain, cannot be encoded in UTF-8.
    return page.encode("utf-8", errors="replace")


def breakable(text: str) -> Markup:
    """Return a name with possible line breaks after the characters that join its words."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[_/=-])", _unbroken(text))
    return Markup("<wbr>").join(map(escape, parts))


def with_code_spans(text: str) -> Markup:
    """Return a sentence whose parts between back-ticks are code; the names in it can be broken after `_`."""
    from markupsafe import Markup, escape

    parts = re.split(r"`([^`]+)`", _unbroken(text))  # every second part was between back-ticks
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part).replace("_", Markup("_<wbr>"))
        for index, part in enumerate(parts)
    )


def _unbroken(text: str) -> str:
    """Return a text without line breaks between a number and its percent sign."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", clean(text))


def policy(style: str, script: str) -> str:
    """Return the page's content security policy: no network requests, and no other script or style than these."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
