"""Images of foreign origin: which formats are opened at all, and what a decompression bomb does."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from grader.cli import run
from grader.reports.web import images

if TYPE_CHECKING:
    from pathlib import Path


def _image(kind: str, size: tuple[int, int] = (30, 20), mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_the_formats_that_benchmarks_have_are_opened(kind: str) -> None:
    (made,) = images.thumbnails({"a": _image(kind)})
    assert made is not None
    assert made[1:] == (30, 20)


@pytest.mark.parametrize("kind", ["PPM", "ICO", "TGA", "PCX", "SGI", "DDS", "EPS", "PDF", "JPEG2000"])
def test_no_other_format_is_opened(kind: str) -> None:
    assert images.thumbnails({"a": _image(kind)}) == [None]


@pytest.mark.bubblewrap
def test_a_decompression_bomb_is_an_error_that_names_the_task_and_keeps_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bomb.png").write_bytes(_image("PNG", (20_000, 20_000), "1"))
    task = {"qid": "q7", "function_signature": "def solution(x):\n", "test_script": "assert solution(1) == 1\n"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task | {"diagram": "bomb.png"}) + "\n")
    predictions = tmp_path / "predictions.json"
    predictions.write_text(
        json.dumps([{"qid": "q7", "predictions": ["```python\ndef solution(x):\n    return 1\n```"]}])
    )
    words = [predictions, "--data", tmp_path / "tasks.jsonl", "--sandbox", "bubblewrap", "-o", tmp_path / "r.html"]
    assert run([str(word) for word in words]) == 2
    assert "The image of task q7 is too large to open" in capsys.readouterr().err
    assert (tmp_path / "predictions_results.json").is_file()
    assert not (tmp_path / "r.html").exists()
