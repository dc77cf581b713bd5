"""Adds documents from elsewhere in the repository to the site: one text for both places."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "conformance/README.md": "conformance.md",
    "conformance/results.md": "conformance-results.md",
    "conformance/readers.md": "conformance-readers.md",
    **{f"benchmarks/{folder.name}/README.md": f"benchmarks/{folder.name}.md" for folder in ROOT.glob("benchmarks/*/")},
}
"""Document of the repository -> page of the site. Those in `docs/` are pages already."""
_LINK = re.compile(r"(?P<before>\[(?P<text>[^\]\n]*)\]\()(?P<path>[^)#:\s]+)(?P<anchor>#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents as pages."""
    for document, page in PAGES.items():
        if (ROOT / document).is_file():
            files.append(File.generated(config, page, content=(ROOT / document).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Point links to pages of the site; what has no page is named without a link."""
    if "\n## " not in markdown:
        page.meta["hide"] = ["toc"]  # a page of one section needs none; its tables get the room
    here = page.file.src_uri
    document = next((name for name, made in PAGES.items() if made == here), f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document), link["path"]))
        there = PAGES.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else None)
        if there is None:
            return link["text"]
        path = posixpath.relpath(there, posixpath.dirname(here) or ".")
        return f"{link['before']}{path}{link['anchor'] or ''})"

    return _LINK.sub(moved, markdown)
