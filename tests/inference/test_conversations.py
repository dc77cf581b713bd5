"""From tasks to a plan."""

from typing import Any

from grader.inference.conversations import RequestSettings, make_plan
from grader.inference.plan import Plan
from grader.models.messages import Text
from grader.models.prompt import IMAGE, Turn
from grader.task import Task
from tests.models.made import PIXEL


def planned(*turns: Turn, image: bytes | None = PIXEL, **chosen: Any) -> Plan:
    given = {"settings": {"temperature": 0.8, "seed": 5}, "model": "m", **chosen}
    return make_plan({"q": Task(id="q")}, lambda _: turns, lambda _: image, RequestSettings(**given))


def says(text: str, **fields: Any) -> Turn:
    return Turn(text=lambda texts: text.format(**texts), **fields)


def parts(plan: Plan) -> list[str]:
    (message,) = plan.conversations[0].steps[0].build({})
    return [part.text if isinstance(part, Text) else "<image>" for part in message.parts]


def test_each_sample_has_a_seed_of_its_own_and_none_where_none_is_sent() -> None:
    seeds = [each.steps[0].settings.get("seed") for each in planned(says("?"), samples=3).conversations]
    assert seeds == [5, 6, 7]
    unsent = planned(says("?"), samples=2, settings={})
    assert [each.steps[0].settings.get("seed") for each in unsent.conversations] == [None, None]


def test_an_image_comes_first_unless_the_text_says_where() -> None:
    assert parts(planned(says("What?"))) == ["<image>", "What?"]
    assert parts(planned(says(f"Look: {IMAGE} What?"))) == ["Look: ", "<image>", " What?"]
    assert parts(planned(says(f"{IMAGE}What?"))) == ["<image>", "What?"]
    assert parts(planned(says(f"Look: {IMAGE} What?"), image=None)) == ["Look:  What?"]
    assert parts(planned(says("What?"), without_images=True)) == ["What?"]
    assert parts(planned(says("What?", shows_images=False))) == ["What?"]


def test_a_greedy_turn_is_asked_at_temperature_zero_unless_temperatures_are_not_sent() -> None:
    (conversation,) = planned(says("?"), says("!", stage="code", is_greedy=True)).conversations
    assert [step.settings["temperature"] for step in conversation.steps] == [0.8, 0.0]
    unsent = planned(says("!", is_greedy=True), settings={})
    assert unsent.conversations[0].steps[0].settings == {}


def test_a_stop_text_of_the_users_is_recorded_because_it_is_the_one_that_is_sent() -> None:
    conversation = planned(says("?", stop="\n"), settings={"stop": "END"}).conversations[0]
    request = conversation.request(conversation.steps[0], {})
    assert (request.sent_settings(), request.recorded_settings()["stop"]) == ({"stop": "END"}, "END")


def test_an_image_at_another_place_is_another_request() -> None:
    texts = ["Look:", f"{IMAGE}Look:", f"Look:{IMAGE}"]
    plans = [planned(says(text)) for text in texts]
    requests = [each.conversations[0].request(each.conversations[0].steps[0], {}) for each in plans]
    assert [request.prompt() for request in requests] == ["Look:"] * 3
    assert [request.recorded_settings().get("image_positions") for request in requests] == [None, None, [5]]


def test_what_neither_text_nor_fields_show_is_noted() -> None:
    plan = planned(says("?", extra_settings={"mode": "v2c"}, stop="\n"), image_detail="low", without_images=True)
    conversation = plan.conversations[0]
    assert conversation.request(conversation.steps[0], {}).recorded_settings() == {
        "temperature": 0.8,
        "seed": 5,
        "mode": "v2c",
        "without_images": True,
        "stop": "\n",
    }
