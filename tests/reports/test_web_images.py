"""Images of foreign origin: which formats are opened at all, and what a decompression bomb does."""

import io
import json
import random
from pathlib import Path

import pytest
from PIL import Image

from grader.cli import run
from grader.reports.web import images


def _image(kind: str, size: tuple[int, int] = (30, 20), mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


def test_only_the_formats_that_benchmarks_have_are_opened() -> None:
    opened = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
    others = ("PPM", "ICO", "TGA", "PCX", "SGI", "DDS", "EPS", "PDF", "JPEG2000")
    pictures = {kind: _image(kind) for kind in opened + others}
    made = dict(zip(pictures, images.thumbnails(pictures, {}), strict=True))
    assert {kind: shown and shown[1:] for kind, shown in made.items()} == {
        **dict.fromkeys(opened, (30, 20)),
        **dict.fromkeys(others),
    }


def test_a_damaged_image_is_no_error_whatever_the_decoder_does() -> None:
    file = io.BytesIO()
    Image.effect_noise((40, 30), 50).convert("RGB").save(file, "PNG")
    data, draw = file.getvalue(), random.Random(0)
    for _ in range(50):
        damaged = bytearray(data[: draw.randrange(20, len(data))] if draw.random() < 0.3 else data)
        for _ in range(draw.randrange(1, 20)):
            damaged[draw.randrange(8, len(damaged))] = draw.randrange(256)
        images.thumbnails({"damaged": bytes(damaged)}, {})


def test_a_decompression_bomb_is_an_error_that_names_the_task_and_keeps_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bomb.png").write_bytes(_image("PNG", (20_000, 20_000), "1"))
    row = {"question_id": "q7", "text": "Which? (A) one (B) two", "label": "A", "category": "c", "image": "bomb.png"}
    (tmp_path / "data.jsonl").write_text(json.dumps(row))
    (tmp_path / "p.json").write_text('[{"qid": "q7", "predictions": ["A"]}]')
    words = [tmp_path / "p.json", "-b", "vstar", "--data", tmp_path / "data.jsonl", "-o", tmp_path / "r.html"]
    assert run([str(word) for word in words]) == 2
    assert "The image of task q7 is too large to open" in capsys.readouterr().err
    assert (tmp_path / "p_results.json").is_file()
    assert not (tmp_path / "r.html").exists()
