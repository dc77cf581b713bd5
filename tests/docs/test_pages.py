"""What the pages say of the program is what it says and has: benchmarks, quoted messages, one list a heading."""

import re
from itertools import pairwise

from grader.scorers import declarations
from tests.conftest import ROOT


def test_the_readme_names_every_bundled_benchmark() -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ")]
    named = {name.strip(" *") for row in rows for name in row.replace("\\*", "\0").split("|")[1].split(",")}
    named = {name.replace("\0", "*") for name in named}
    assert {one.name for one in declarations.bundled_benchmarks()} - named == set()


def test_the_troubleshooting_page_quotes_messages_that_there_are() -> None:
    rows = (ROOT / "docs" / "troubleshooting.md").read_text().splitlines()
    quoted = [text for row in rows if row.startswith("| ") for text in re.findall(r'"([^"]+)"', row.split("|")[1])]
    assert len(quoted) > 2
    sources = [path.read_text() for ending in ("py", "j2") for path in (ROOT / "grader").rglob(f"*.{ending}")]
    assert [text for text in quoted if not any(text in source for source in sources)] == []


def test_a_path_that_a_page_or_a_comment_names_is_there() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("grader/**/*.py"),
        *ROOT.glob("sandbox_image/**/*.py"),
    ]
    named = re.compile(r"(?<![\w/.:-])((?:tests|docs|sandbox_image|grade_sandbox|grader|examples)/[\w/.-]*\w)")
    places = (ROOT, ROOT / "sandbox_image")
    gone = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in pages
        for path in named.findall(page.read_text(encoding="utf-8"))
        if not any((place / path).exists() or (place / f"{path}.py").exists() for place in places)
    ]
    assert gone == []


def test_a_module_that_contributors_are_sent_to_is_there() -> None:
    modules = [
        path.as_posix() for folder in ("grader", "sandbox_image", "tests") for path in (ROOT / folder).rglob("*.py")
    ]
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "ARCHITECTURE.md"))
    named = set(re.findall(r"[\w/]+\.py\b", text))
    assert len(named) > 40
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in modules)] == []


def test_the_changelog_has_one_list_for_each_heading() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    for release in text.split("\n## ")[1:]:
        headings = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert len(set(headings)) == len(headings), headings
        for part in release.split("\n### ")[1:]:
            entries = part.strip().splitlines()[2:]
            assert all(line.startswith(("- ", "  ")) for line in entries), entries
    assert [first for first, second in pairwise(text.splitlines()) if first == second == ""] == []


def test_the_readme_shows_the_table_that_the_demo_shows() -> None:
    """Its intervals aside: the golden view of the sample has none."""
    shown = (ROOT / "README.md").read_text().partition("`make demo` shows")[2].partition("## ")[0]
    golden = (ROOT / "tests" / "reports" / "browser" / "golden" / "humaneval-v.txt").read_text()
    interval = re.compile(r" +\d+\.\d to \d+\.\d|…")
    rows = [interval.sub("", line).split() for line in shown.splitlines() if re.search(r"  \d+$", line)]
    assert len(rows) == 4
    there = [interval.sub("", line).split() for line in golden.splitlines()]
    assert [row for row in rows if row not in there] == []
