"""The HTML report: one file that opens without a network, and in which no model output can do anything.

The page's own script and style are the only ones its policy lets in, by hash. Everything else it carries is base64,
and reaches the document as text nodes only.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from grader.resources import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.interface import Gather
    from grader.reports.material import Material
    from grader.results import ReadingName, Report

_WEB = Path(__file__).resolve().parent / "web"
_SCRIPTS = ("core", "text", "state", "widgets", "summary", "list", "item", "differences", "about", "main")
"""In this order they make up the page's script; later ones use what earlier ones define."""


def make(
    report: Report, material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    """Return the file; see `grader.reports.interface.Format`."""
    del gates, reading
    return render(report, material())


def render(report: Report, material: Material) -> bytes:
    """Return the report as a self-contained HTML file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from grader.reports.web import payload

    packed = payload.build(report, material)
    style, script = _style(), _script()
    pages = Environment(loader=FileSystemLoader(_WEB), autoescape=True, undefined=StrictUndefined)
    page = pages.get_template("page.html.j2").render(
        report=report,
        name=_name(report),
        facts=_facts(report, material),
        titles=[part for part in (report.model, report.provenance.predictions) if part],
        source=report.provenance.predictions or "a results file",
        version=VERSION,
        policy=policy(style, script),
        # Ours, not the data's: what a browser hashes must be what was hashed here.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        index=packed.index,
        chunks=packed.chunks,
        images=packed.images,
    )
    # Half a character, which only a damaged file can bring this far, has no UTF-8.
    return page.encode("utf-8", errors="replace")


def policy(style: str, script: str) -> str:
    """Return the page's content security policy: nothing from anywhere, and no script or style but these two."""
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


def _style() -> str:
    return "\n" + (_WEB / "style.css").read_text("utf-8")


def _script() -> str:
    parts = [(_WEB / f"{name}.js").read_text("utf-8") for name in _SCRIPTS]
    return "\n(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


def _name(report: Report) -> str:
    """Return the benchmark's name as people write it."""
    from grader.errors import GradeError
    from grader.scorers import declarations

    try:
        return declarations.load(report.benchmark).name
    except GradeError:
        return report.benchmark


def _facts(report: Report, material: Material) -> list[str]:
    from grader.reports.web.payload import items_of

    samples, items = len(report.samples), len(items_of(report, material))
    return [
        *([f"model {report.model}"] if report.model else []),
        *([report.provenance.predictions] if report.provenance.predictions else []),
        f"split {report.split}",
        f"protocol {report.protocol}",
        f"{items:,} {material.unit}{'' if items == 1 else 's'}",
        *([f"{samples:,} samples"] if samples != items else []),
        *([f"{report.unscored:,} unscored"] if report.unscored else []),
    ]
