"""From tasks to a plan."""

import io
from typing import Any

import PIL.Image
import pytest

from grader.errors import InputError
from grader.inference.conversations import Chosen, make
from grader.inference.plan import Plan
from grader.models.messages import Image, Settings, Text, size
from grader.models.prompt import IMAGE, Turn
from grader.task import Task
from tests.models.made import PIXEL


def planned(*turns: Turn, image: bytes | None = PIXEL, **chosen: Any) -> Plan:
    given = {"settings": Settings(temperature=0.8, seed=5), "models": {"model": "m"}, **chosen}
    return make({"q": Task(id="q")}, lambda _: turns, lambda _: image, Chosen(**given))


def says(text: str, **fields: Any) -> Turn:
    return Turn(text=lambda texts: text.format(**texts), **fields)


def parts(plan: Plan) -> list[str]:
    (message,) = plan.conversations[0].steps[0].build({})
    return [part.text if isinstance(part, Text) else "<image>" for part in message.parts]


def test_each_sample_has_a_seed_of_its_own_and_none_where_none_is_sent() -> None:
    seeds = [each.steps[0].settings.seed for each in planned(says("?"), samples=3).conversations]
    assert seeds == [5, 6, 7]
    unsent = planned(says("?"), samples=2, settings=Settings())
    assert [each.steps[0].settings.seed for each in unsent.conversations] == [None, None]


def test_an_image_comes_first_unless_the_text_says_where() -> None:
    assert parts(planned(says("What?"))) == ["<image>", "What?"]
    assert parts(planned(says(f"Look: {IMAGE} What?"))) == ["Look: ", "<image>", " What?"]
    assert parts(planned(says(f"{IMAGE}What?"))) == ["<image>", "What?"]
    assert parts(planned(says(f"Look: {IMAGE} What?"), image=None)) == ["Look:  What?"]
    assert parts(planned(says("What?"), without_images=True)) == ["What?"]
    assert parts(planned(says("What?", shows_images=False))) == ["What?"]


def test_a_greedy_turn_is_asked_at_temperature_zero_unless_temperatures_are_not_sent() -> None:
    (conversation,) = planned(says("?"), says("!", stage="code", is_greedy=True)).conversations
    assert [step.settings.temperature for step in conversation.steps] == [0.8, 0.0]
    unsent = planned(says("!", is_greedy=True), settings=Settings())
    assert unsent.conversations[0].steps[0].settings.temperature is None


def test_what_neither_text_nor_fields_show_is_noted() -> None:
    plan = planned(says("?", noted={"mode": "v2c"}, stop="\n"), image_detail="low", max_image_pixels=9)
    assert plan.conversations[0].steps[0].recorded_settings() == {
        "temperature": 0.8,
        "seed": 5,
        "mode": "v2c",
        "image_detail": "low",
        "max_image_pixels": 9,
        "stop": "\n",
    }


def picture(width: int, height: int, mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    PIL.Image.new(mode, (width, height)).save(file, "PNG")
    return file.getvalue()


def sent(image: bytes, pixels: int) -> bytes:
    (message,) = planned(says("?"), image=image, max_image_pixels=pixels).conversations[0].steps[0].build({})
    first = message.parts[0]
    assert isinstance(first, Image)
    return first.data


@pytest.mark.parametrize("mode", ["RGB", "P", "1", "I;16", "LA"])
def test_only_an_image_with_more_pixels_is_made_smaller(mode: str) -> None:
    image = picture(300, 200, mode)
    assert sent(image, 60_000) == image
    width, height = size(sent(image, 15_000))
    assert (width, height) == (150, 100)


def test_a_broken_image_that_is_to_be_made_smaller_is_told() -> None:
    with pytest.raises(InputError, match="q: its image cannot be scaled down"):
        sent(b"no image", 10)
