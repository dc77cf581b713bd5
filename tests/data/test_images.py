"""Images of tasks: bytes, base64, files within the data's folder, and cells that name another row."""

import base64
import functools
import os
from pathlib import Path
from typing import Any

import pytest

from grader.data.images import Images, Picture, folder_of
from grader.scorers import declarations
from grader.task import Task
from tests.tables import each

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(100))
TEXT = base64.b64encode(PNG).decode()


def images(folder: Path | None = None, **cells: object) -> tuple[dict[str, Task], Images]:
    tasks = {name: Task(id=name, row={"image": cell}) for name, cell in cells.items()}
    return tasks, Images(tasks, "image", folder)


def found_of(tasks: dict[str, Task], found: Images) -> dict[str, Picture]:
    return {name: picture for name, task in tasks.items() if (picture := found.image_of(task)) is not None}


@each(
    "cell",
    [PNG, TEXT, {"bytes": PNG, "path": "x.png"}, {"bytes": None, "path": TEXT}, f'["{TEXT}"]', f"['{TEXT}']", [PNG]],
)
def test_bytes_and_base64_are_images(cell: object) -> None:
    tasks, found = images(a=cell)
    assert (found.image_of(tasks["a"]), found.has_cell(tasks["a"]), found.is_empty) == (PNG, True, False)


@pytest.mark.parametrize(
    "cell",
    [
        "",
        3,
        "x\0y",
        "A" * 2001,
        f'["{TEXT}", "{TEXT}"]',
        "loop",
        functools.reduce(lambda inner, _: [inner], range(5000), PNG),
        {"bytes": {"bytes": PNG}},
    ],
    ids=lambda cell: repr(cell)[:20] if not isinstance(cell, list) else "list",
)
def test_what_cannot_be_found_is_no_image_and_yet_a_cell(cell: object, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    tasks, found = images(tmp_path, a=cell)
    assert (found.image_of(tasks["a"]), found.has_cell(tasks["a"])) == (None, True)


def test_a_file_that_is_not_an_image_is_never_an_image(tmp_path: Path) -> None:
    """Hostile data could name a secret beside it, which would be sent to the model's server."""
    secret = b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + b"A" * 100
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_bytes(secret)
    (tmp_path / "page.eps").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    os.mkfifo(tmp_path / "pipe")
    tasks, found = images(tmp_path, a=".ssh/id", b="page.eps", c="pipe", d=secret, e=base64.b64encode(secret).decode())
    assert found_of(tasks, found) == {}


def test_a_file_is_found_within_the_datas_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    tasks, found = images(
        folder, a="images/a.png", b="../secret.png", c=str(tmp_path / "secret.png"), d="link.png", e="images",
        f={"path": "images/a.png"},
    )  # fmt: skip
    there = (folder / "images" / "a.png").resolve()
    assert found_of(tasks, found) == {"a": there, "f": there}
    assert images(None, a="images/a.png")[1].image_of(tasks["a"]) is None


def test_a_cell_may_name_another_row_also_over_several_and_never_in_a_circle() -> None:
    tasks, found = images(**{"1": PNG, "2": "1", "3": 2, "4": "5", "5": "4"})
    assert found_of(tasks, found) == {"1": PNG, "2": PNG, "3": PNG}


def test_a_pass_without_an_image_has_that_of_its_units_first_row() -> None:
    tasks: dict[str, Any] = {"1": Task(id="1", row={"image": PNG}), "11": Task(id="11", unit="1", row={"image": None})}
    assert found_of(tasks, Images(tasks, "image", None)) == {"1": PNG, "11": PNG}


def test_names_are_relative_to_the_given_data_or_to_the_declared(tmp_path: Path) -> None:
    declared = declarations.load("mr-ben")
    given = tmp_path / "q.tsv"
    given.write_text("")
    assert folder_of(declared, declared.default_split, given) == tmp_path
    assert folder_of(declared, declared.default_split, tmp_path) == tmp_path
    (tmp_path / "benchmark.toml").write_text(
        'id = "own"\nname = "Own"\nscoring = "multiple_choice"\ndefault_split = "a"\ndefault_protocol = "p"\n'
        '[columns]\nid = "qid"\n[splits.a]\ndata = "data/t.jsonl"\n[splits.b]\nhub = "x/y"\n[protocols.p]\n'
        'reader = "mmmu"\n'
    )
    own = declarations.load(str(tmp_path))
    assert (folder_of(own, "a", None), folder_of(own, "b", None)) == (tmp_path / "data", None)
