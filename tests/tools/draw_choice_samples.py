"""Draws the V* and MMBench samples and writes their question files: `python tests/tools/draw_choice_samples.py`.

Drawings and questions were made for this project (CC0). Predictions and expected figures are written by hand.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
INK, PAPER, SKY, GRASS = "#22303c", "#ffffff", "#dbe9f4", "#cfe3c8"
RED, BLUE, GREEN, YELLOW, BROWN, GREY = "#d1495b", "#2e6f9e", "#3c8d5a", "#edae49", "#8a5a3b", "#9aa5ad"
LETTERS = "ABCD"
STRIDE = 1_000_000
INSTRUCTION = "Answer with the option's letter from the given choices directly."


class Canvas:
    """A drawing with the few shapes the pictures are made of."""

    def __init__(self, width: int = 420, height: int = 280, paper: str = PAPER) -> None:
        self.image = Image.new("RGB", (width, height), paper)
        self.pen = ImageDraw.Draw(self.image)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.pen.rectangle((x, y, x + width, y + height), fill=colour, outline=INK)

    def disc(self, x: float, y: float, radius: float, colour: str) -> None:
        self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=INK)

    def shape(self, colour: str, *points: tuple[float, float]) -> None:
        self.pen.polygon(points, fill=colour, outline=INK)

    def line(self, *points: tuple[float, float], width: int = 2, colour: str = INK) -> None:
        self.pen.line(points, fill=colour, width=width)

    def text(self, x: float, y: float, text: str, size: int = 16) -> None:
        self.pen.text((x, y), text, fill=INK, font=ImageFont.load_default(size), anchor="mm")

    def png(self) -> bytes:
        """Return the file; flat drawings of few colours stay small."""
        data = io.BytesIO()
        self.image.quantize(32).save(data, "PNG", optimize=True)
        return data.getvalue()


# --- V*: a small thing in a busy picture ------------------------------------------------------------------------


def park(seed: int) -> Canvas:
    """A park with trees and pebbles, in which the thing asked for is drawn afterwards."""
    scene, dice = Canvas(paper=SKY), random.Random(seed)
    scene.pen.rectangle((0, 130, 420, 280), fill=GRASS)
    for _ in range(9):
        x, y = dice.randrange(15, 405), dice.randrange(120, 175)
        scene.box(x - 2, y, 4, 22, BROWN)
        scene.disc(x, y - 8, dice.randrange(10, 18), GREEN)
    for _ in range(40):
        scene.disc(dice.randrange(5, 415), dice.randrange(185, 275), dice.randrange(1, 4), GREY)
    return scene


def kite() -> Canvas:
    scene = park(1)
    scene.line((331, 52), (318, 84), (326, 100))
    scene.shape(YELLOW, (331, 30), (340, 42), (331, 54), (322, 42))
    return scene


def flag() -> Canvas:
    scene = park(2)
    scene.box(90, 60, 2, 70, BROWN)
    scene.box(92, 60, 34, 22, PAPER)
    scene.disc(109, 71, 7, RED)
    return scene


def door() -> Canvas:
    scene = park(3)
    scene.box(250, 150, 70, 60, YELLOW)
    scene.shape(RED, (244, 150), (326, 150), (285, 122))
    scene.box(277, 176, 18, 34, BROWN)
    scene.box(280, 180, 12, 12, PAPER)
    scene.text(286, 186, "9", 11)
    return scene


def sail() -> Canvas:
    scene = park(4)
    scene.pen.ellipse((60, 205, 230, 262), fill=BLUE)
    scene.shape(BROWN, (150, 232), (182, 232), (175, 241), (157, 241))
    scene.shape(RED, (166, 206), (166, 230), (181, 230))
    return scene


def umbrella() -> Canvas:
    scene = park(5)
    scene.line((205, 215), (205, 245))
    scene.pen.pieslice((182, 196, 228, 236), 180, 360, fill=PAPER, outline=INK)
    for x in (190, 200, 210, 220):
        scene.line((x, 201 if x in {200, 210} else 207), (x, 215), width=3, colour=RED)
    return scene


def lamp() -> Canvas:
    scene = park(6)
    scene.box(360, 170, 3, 50, INK)
    scene.disc(361, 164, 7, GREY)
    return scene


def ball_and_box() -> Canvas:
    scene = park(7)
    scene.box(230, 225, 26, 22, BROWN)
    scene.disc(120, 240, 6, RED)
    return scene


def cat_and_tree() -> Canvas:
    scene = park(8)
    scene.box(296, 190, 8, 44, BROWN)
    scene.disc(300, 176, 24, GREEN)
    scene.disc(90, 236, 9, INK)
    scene.shape(INK, (83, 231), (85, 221), (90, 228))
    scene.shape(INK, (97, 231), (95, 221), (90, 228))
    return scene


def bird_and_house() -> Canvas:
    scene = park(9)
    scene.box(180, 160, 60, 50, PAPER)
    scene.shape(RED, (174, 160), (246, 160), (210, 134))
    scene.line((60, 30), (67, 24), (74, 30), width=3, colour=BLUE)
    return scene


def cup_and_bench() -> Canvas:
    scene = park(10)
    scene.box(200, 215, 80, 8, BROWN)
    scene.box(206, 223, 6, 20, BROWN)
    scene.box(268, 223, 6, 20, BROWN)
    scene.box(140, 232, 9, 12, BLUE)
    return scene


SCENES: list[tuple[Callable[[], Canvas], str, str, str]] = [
    (kite, "What is the color of the kite? (A) red (B) yellow (C) blue (D) green", "direct_attributes", "B"),
    (flag, "What is the shape on the flag? (A) star (B) cross (C) circle (D) square", "direct_attributes", "C"),
    (door, "What is the number on the door? (A) 4 (B) 7 (C) 2 (D) 9", "direct_attributes", "D"),
    (sail, "What is the color of the sail? (A) red (B) white (C) yellow (D) blue", "direct_attributes", "A"),
    (
        umbrella,
        "What is the pattern on the umbrella? (A) stripes (B) dots (C) checks (D) none",
        "direct_attributes",
        "A",
    ),
    (lamp, "Is the lamp on or off? (A) on (B) off", "direct_attributes", "B"),
    (
        ball_and_box,
        "Is the red ball on the left or right side of the box? (A) right (B) left",
        "relative_position",
        "B",
    ),
    (
        cat_and_tree,
        "Is the cat on the left or right side of the big tree? (A) left (B) right",
        "relative_position",
        "A",
    ),
    (bird_and_house, "Is the blue bird above or below the house's roof? (A) below (B) above", "relative_position", "B"),
    (cup_and_bench, "Is the cup on the left or right side of the bench? (A) left (B) right", "relative_position", "A"),
]


def write_vstar(folder: Path) -> None:
    """Write the pictures and the questions, in the columns of the official data set."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (draw, question, category, label) in enumerate(SCENES):
        image = f"images/{number}.png"
        (folder / image).write_bytes(draw().png())
        row = {"question_id": str(number), "category": category, "text": f"{question} {INSTRUCTION}", "label": label}
        lines.append(json.dumps(row | {"image": image}) + "\n")
    (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")


# --- MMBench ----------------------------------------------------------------------------------------------------


def pixels() -> Canvas:
    heart = ("0110110", "1111111", "1111111", "0111110", "0011100", "0001000")
    scene = Canvas(180, 160)
    for y, row in enumerate(heart):
        for x, bit in enumerate(row):
            if bit == "1":
                scene.box(20 + 20 * x, 20 + 20 * y, 20, 20, RED)
    return scene


def scale() -> Canvas:
    scene = Canvas(220, 150)
    scene.shape(GREY, (110, 60), (125, 130), (95, 130))
    scene.line((40, 80), (180, 40), width=4)
    scene.disc(44, 66, 12, RED)
    scene.disc(176, 28, 12, BLUE)
    return scene


def card() -> Canvas:
    scene = Canvas(180, 120)
    scene.box(20, 20, 140, 80, "#fff7e0")
    scene.text(90, 60, "NA", 40)
    return scene


def tiles() -> Canvas:
    scene = Canvas(260, 130)
    for x, side, letter in ((15, 40, "B"), (70, 90, "A"), (175, 30, "C"), (215, 35, "D")):
        scene.box(x, 20, side, side, YELLOW)
        scene.text(x + side / 2, 20 + side / 2, letter, side // 2)
    return scene


def fruit() -> Canvas:
    scene = Canvas(220, 120)
    for x in (30, 60, 90, 120):
        scene.disc(x, 40, 11, RED)
    for x in (35, 70):
        scene.pen.arc((x - 20, 60, x + 20, 100), 20, 160, fill=YELLOW, width=8)
    scene.disc(160, 85, 12, "#f08a24")
    return scene


def scissors() -> Canvas:
    scene = Canvas(200, 130)
    scene.line((60, 95), (160, 30), width=5, colour=GREY)
    scene.line((60, 30), (160, 95), width=5, colour=GREY)
    for y in (25, 100):
        scene.pen.ellipse((30, y - 14, 62, y + 14), outline=RED, width=5)
    return scene


class Question:
    """One question with the options of its first pass."""

    def __init__(
        self, index: int, draw: Callable[[], Canvas], text: str, options: str, answer: str, ability: str, *,
        hint: str = "", last_stays: bool = False,
    ) -> None:  # fmt: skip
        self.index, self.draw, self.text, self.hint, self.answer = index, draw, text, hint, answer
        self.options = options.split(" | ")
        self.l2, self.category = ability.split(" / ")
        self.turning = len(self.options) - last_stays

    def row(self, number: int) -> dict[str, str]:
        """Return pass `number`: the options have moved that many letters on."""
        moved = self.options[: self.turning]
        texts = moved[self.turning - number :] + moved[: self.turning - number] + self.options[self.turning :]
        place = LETTERS.index(self.answer)
        answer = LETTERS[(place + number) % self.turning] if place < self.turning else self.answer
        image = base64.b64encode(self.draw().png()).decode() if number == 0 else str(self.index)
        return {
            "index": str(self.index + number * STRIDE),
            "question": self.text,
            "hint": self.hint,
            **dict(zip(LETTERS, texts, strict=False)),
            "answer": answer,
            "category": self.category,
            "image": image,
            "l2-category": self.l2,
            "split": "dev",
        }


QUESTIONS = [
    Question(11, pixels, "Which style is the picture drawn in?",
             "a pencil sketch | pixel art | a photograph | a watercolour", "B", "coarse_perception / image_style"),
    Question(12, scale, "Which ball is heavier?", "The left one | The right one", "A",
             "relation_reasoning / physical_relation", hint="Both arms of the scale are equally long."),
    Question(13, card, "Which word is printed on the card?", "None | NA | nan | null", "B",
             "finegrained_perception (instance-level) / ocr"),
    Question(14, tiles, "Which letter is on the largest tile?", "B | A | D | C", "B",
             "finegrained_perception (cross-instance) / attribute_comparison"),
    Question(15, fruit, "图中哪一种水果最多？", "苹果 | 香蕉 | 橙子", "A",  # noqa: RUF001 - Chinese punctuation
             "logic_reasoning / structuralized_imagetext_understanding"),
    Question(16, scissors, "What can the tool in the picture be used for?",
             "Cutting paper | Opening a parcel | Trimming a thread | All of the above", "D",
             "attribute_reasoning / function_reasoning", last_stays=True),
]  # fmt: skip


def rows() -> Iterator[dict[str, str]]:
    """Yield every pass, the first ones first."""
    for number in range(len(LETTERS)):
        for question in QUESTIONS:
            if number < question.turning:
                yield question.row(number)


def write_mmbench(folder: Path) -> None:
    """Write the table in VLMEvalKit's layout: the image in the first pass, its index in the others."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = ("index", "question", "hint", *LETTERS, "answer", "category", "image", "l2-category", "split")
    with (folder / "questions.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(rows())


def main(folder: Path) -> None:
    """Write both samples below a folder laid out like `benchmarks/`."""
    write_vstar(folder / "vstar" / "sample")
    write_mmbench(folder / "mmbench" / "sample")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else BENCHMARKS)
