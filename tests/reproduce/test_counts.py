"""`make counts` on made replies: what decides them, and the numbers beside the lines of a source file."""

from pathlib import Path

from tests.reproduce.counts import counted, numbers_in, written
from tests.reproduce.replies import Published

COLOURS = {"A": "red", "B": "blue"}


def test_a_line_counts_where_a_reply_is_read_differently_without_it(tmp_path: Path) -> None:
    texts = ["The answer is (B). Beside it stands (A).", "(B)", "(A)", "A"]
    counts = counted([Published(text, "Which?", COLOURS, "text") for text in texts], 1)
    decided = {key: count for key, count in counts.items() if count}
    assert decided == {("DECLARES", "nouns", r"answers?(?! (?:choices|options))"): 25_000}
    path = tmp_path / "scorers/place_wordings.py"
    path.parent.mkdir()
    path.write_text(
        'DECLARES = pattern_of_wordings("<nouns>", nouns={"answers?": 1, "é": 2, "ans": 3, "x": "report", "y": L})\n'
    )
    known = dict(zip([("DECLARES", "nouns", line) for line in "abcde"], [7, 80, 9, 1, 1], strict=True))
    assert '"answers?": 7, "é": 80, "ans": 9, "x": "report", "y": L' in written(path, numbers_in(path, known))
