"""Draws the diagrams of the HumanEval-V sample: `python tests/tools/draw_samples.py [FOLDER]` makes them again."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Callable

Point = tuple[float, float]
IMAGES = Path(__file__).resolve().parents[2] / "benchmarks/humaneval-v/sample/images"
INK, PAPER, LIGHT = "#22303c", "#ffffff", "#e8edf2"
RED, BLUE, GREEN, YELLOW = "#d1495b", "#2e6f9e", "#3c8d5a", "#edae49"
COLOURS = 32
"""Colours a file keeps; flat drawings stay a few kilobytes."""


class Canvas:
    """A drawing with the few shapes the diagrams are made of."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def text(self, at: Point, text: str, size: int = 20, colour: str = INK) -> None:
        self.pen.text(at, text, fill=colour, font=ImageFont.load_default(size), anchor="mm")

    def cell(self, left: float, top: float, side: float, text: str = "", colour: str = PAPER) -> None:
        self.pen.rectangle((left, top, left + side, top + side), fill=colour, outline=INK, width=2)
        if text:
            self.text((left + side / 2, top + side / 2), text)

    def disc(self, at: Point, radius: float, text: str = "", colour: str = PAPER) -> None:
        x, y = at
        self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=INK, width=2)
        if text:
            self.text(at, text)

    def line(self, start: Point, end: Point, colour: str = INK, width: int = 3) -> None:
        self.pen.line((*start, *end), fill=colour, width=width)

    def head(self, end: Point, direction: float, colour: str, size: float = 11) -> None:
        """An arrow's head at `end`; `direction` in degrees, 0 to the right, clockwise."""
        corners = [end]
        for turn in (150, 210):
            angle = math.radians(direction + turn)
            corners.append((end[0] + size * math.cos(angle), end[1] + size * math.sin(angle)))
        self.pen.polygon(corners, fill=colour)

    def arrow(self, start: Point, end: Point, colour: str = RED, width: int = 3) -> None:
        self.line(start, end, colour, width)
        self.head(end, math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])), colour)

    def turn(self, at: Point, radius: float, colour: str, *, clockwise: bool) -> None:
        """An arc with a head: which way something turns."""
        x, y = at
        self.pen.arc((x - radius, y - radius, x + radius, y + radius), 200, 340, fill=colour, width=4)
        angle = math.radians(340 if clockwise else 200)
        end = (x + radius * math.cos(angle), y + radius * math.sin(angle))
        self.head(end, 70 if clockwise else 110, colour, 15)


def spiral() -> Image.Image:
    """q1: a grid read along a spiral."""
    canvas, side = Canvas(330, 260), 70
    for row in range(3):
        for column in range(4):
            left, top = 25 + column * side, 25 + row * side
            canvas.cell(left, top, side, colour=LIGHT)
            canvas.text((left + 15, top + 15), str(row * 4 + column + 1), 16)
    at = lambda row, column: (25 + side * (column + 0.5), 25 + side * (row + 0.5))  # noqa: E731
    corners = [at(0, 0), at(0, 3), at(2, 3), at(2, 0), at(1, 0), at(1, 2)]
    for start, end in pairwise(corners):
        canvas.arrow(start, end)
    canvas.disc(corners[0], 6, colour=GREEN)
    return canvas.image


def tree() -> Image.Image:
    """q2: a tree whose leaves count plus or minus by the parity of their depth."""
    canvas = Canvas(440, 330)
    place = {8: (220, 40), 3: (110, 120), 5: (330, 120), 1: (50, 200), 6: (170, 200), 4: (390, 200), 7: (120, 275)}
    for parent, child in ((8, 3), (8, 5), (3, 1), (3, 6), (5, 4), (6, 7)):
        canvas.line(place[parent], place[child])
    signs = {1: ("+", GREEN), 4: ("+", GREEN), 7: ("-", RED)}
    for value, at in place.items():
        sign, colour = signs.get(value, ("", LIGHT))
        canvas.disc(at, 22, str(value), PAPER if sign else LIGHT)
        if sign:
            canvas.pen.ellipse((at[0] - 26, at[1] - 26, at[0] + 26, at[1] + 26), outline=colour, width=4)
            canvas.text((at[0] + 40, at[1]), sign, 30, colour)
    canvas.text((290, 308), "+1 +4 -7 = -2", 20)
    return canvas.image


def mirror() -> Image.Image:
    """q3: a matrix mirrored at the rising diagonal."""
    canvas, side = Canvas(470, 210), 50
    for left, text in ((25, "abcdefghi"), (295, "ifchebgda")):
        for position, letter in enumerate(text):
            canvas.cell(left + position % 3 * side, 30 + position // 3 * side, side, letter, LIGHT)
    for step in range(9):
        start = (15 + step * 19, 190 - step * 19)
        canvas.line(start, (start[0] + 11, start[1] - 11), RED, 4)
    canvas.arrow((190, 105), (275, 105), INK)
    canvas.arrow((50, 55), (150, 155), BLUE, 2)
    canvas.arrow((150, 155), (50, 55), BLUE, 2)
    return canvas.image


def clock() -> Image.Image:
    """q4: the arc from the short hand, clockwise, to the long one."""
    canvas, middle, radius = Canvas(300, 300), (150, 150), 125
    canvas.disc(middle, radius, colour=LIGHT)
    for hour in range(1, 13):
        angle = math.radians(30 * hour - 90)
        canvas.text((150 + 108 * math.cos(angle), 150 + 108 * math.sin(angle)), str(hour), 18)
    short, long = 30 * 2 + 20 - 90, 6 * 40 - 90  # 2:40
    canvas.pen.pieslice((90, 90, 210, 210), short, long, fill="#f6d7a7")
    canvas.pen.arc((90, 90, 210, 210), short, long, fill=RED, width=4)
    end = math.radians(long)
    canvas.head((150 + 59 * math.cos(end), 150 + 59 * math.sin(end)), long + 80, RED, 16)
    for degrees, length, width in ((short, 62, 7), (long, 92, 4)):
        angle = math.radians(degrees)
        canvas.line(middle, (150 + length * math.cos(angle), 150 + length * math.sin(angle)), INK, width)
    canvas.disc(middle, 6, colour=INK)
    canvas.text((172, 186), "?", 26, RED)
    return canvas.image


def dots() -> Image.Image:
    """q5: the first figures of a growing pattern of dots."""
    canvas, step = Canvas(520, 220), 22
    for number, centre in ((1, 50), (2, 150), (3, 290)):
        for row in range(1 - number, number):
            for column in range(1 - number, number):
                ring = abs(row) + abs(column)
                if ring < number:
                    colour = BLUE if ring == number - 1 else LIGHT
                    canvas.disc((centre + column * step, 90 + row * step), 9, colour=colour)
        canvas.text((centre, 190), f"n = {number}", 18)
    canvas.text((440, 90), ". . .", 34)
    canvas.text((440, 190), "n = ?", 18)
    return canvas.image


def gears() -> Image.Image:
    """q6: meshed gears turn against each other, belted ones together."""
    canvas = Canvas(560, 230)
    wheels = {"A": (80, 120, 50), "B": (178, 120, 44), "C": (262, 120, 38), "D": (445, 120, 44)}
    for left, right in (((262, 82), (445, 76)), ((262, 158), (445, 164))):
        canvas.line(left, right, YELLOW, 6)
    for number, (name, (x, y, radius)) in enumerate(wheels.items()):
        for tooth in range(16):
            angle = math.radians(tooth * 22.5 + number * 11.25)
            canvas.disc((x + radius * math.cos(angle), y + radius * math.sin(angle)), 5, colour=INK)
        canvas.disc((x, y), radius, name, LIGHT)
        clockwise = name in "AC" or name == "D"
        canvas.turn((x, y), radius - 14, RED if clockwise else BLUE, clockwise=clockwise)
    canvas.text((80, 200), "driver", 16)
    canvas.text((353, 60), "belt", 16)
    return canvas.image


def gravity() -> Image.Image:
    """q7: blocks fall, walls stay."""
    canvas, side = Canvas(420, 260), 40
    before, after = ("o.o.", ".#..", "o..o", "..#.", "...."), ("....", ".#..", "..o.", "o.#.", "o..o")
    colours = {"o": YELLOW, "#": INK, ".": PAPER}
    for left, rows in ((25, before), (235, after)):
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                canvas.cell(left + column * side, 25 + row * side, side, "o" if cell == "o" else "", colours[cell])
    canvas.arrow((190, 125), (230, 125), INK)
    for column in (0, 2, 3):
        canvas.arrow((45 + column * side, 228), (45 + column * side, 250))
    return canvas.image


def rings() -> Image.Image:
    """q8: two rings of letters, the inner one turned by three places."""
    canvas, middle = Canvas(340, 340), (170, 170)
    for radius, colour in ((160, LIGHT), (122, PAPER), (84, LIGHT)):
        canvas.disc(middle, radius, colour=colour)
    for number in range(26):
        angle = math.radians(number * 360 / 26 - 90)
        for radius, shift, size in ((141, 0, 18), (103, 3, 15)):
            letter = chr(ord("A") + (number + shift) % 26)
            at = (170 + radius * math.cos(angle), 170 + radius * math.sin(angle))
            canvas.text(at, letter, size, RED if number == 0 else INK)
    canvas.arrow((170, 48), (170, 58))
    canvas.text((170, 155), "CAB", 22)
    canvas.arrow((170, 167), (170, 188))
    canvas.text((170, 204), "FDE", 22, RED)
    return canvas.image


DRAWINGS: dict[str, Callable[[], Image.Image]] = {
    "q1": spiral,
    "q2": tree,
    "q3": mirror,
    "q4": clock,
    "q5": dots,
    "q6": gears,
    "q7": gravity,
    "q8": rings,
}


def main(folder: Path) -> None:
    """Write every drawing to `folder` as `<qid>.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWINGS.items():
        draw().quantize(COLOURS).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
