"""What a run would send."""

from grader.inference import dry_run
from grader.inference.log import Kept
from grader.inference.plan import Conversation, Plan, Step
from grader.models.messages import Image, Settings, user
from tests.inference.made import plan, step
from tests.models.made import PIXEL


def kept(qid: str) -> Kept:
    return Kept(qid=qid, sample=0, stage="answer", model="m", settings={}, prompt_sha256="", content="A")


def test_a_later_step_is_shown_with_a_placeholder_and_nothing_left_is_nothing_to_show() -> None:
    steps = (step("describe", "description"), step("code for {description}", "code"))
    whole = Plan(conversations=(Conversation(qid="q", sample=0, steps=steps),), models={"model": "m"})
    assert dry_run.look(whole, whole.conversations, {}).requests == 2
    done = dry_run.look(plan(1), plan(1).conversations, {("q0", 0, "answer"): kept("q0")})
    assert (done.requests, done.first, done.prompt_tokens) == (0, None, 0)


def test_tokens_are_estimated_for_texts_and_images_of_all_requests() -> None:
    shown = Step(stage="answer", build=lambda _: (user(Image(data=PIXEL), "x" * 400),), settings=Settings())
    whole = Plan(
        conversations=tuple(Conversation(qid=f"q{n}", sample=0, steps=(shown,)) for n in range(170)),
        models={"model": "m"},
    )
    look = dry_run.look(whole, whole.conversations, {})
    assert (look.prompt_tokens, look.image_tokens, look.most_completion_tokens) == (170 * 101, 170, None)
