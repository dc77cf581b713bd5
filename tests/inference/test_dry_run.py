"""What a run would send."""

from pathlib import Path

from grader.inference import dry_run
from grader.inference.log import Log
from grader.inference.plan import Conversation, Plan, Step
from grader.models.messages import Image, user
from tests.inference.made import plan, record, two_stages
from tests.models.made import PIXEL


def test_a_later_step_is_shown_with_a_placeholder_and_nothing_left_is_nothing_to_show(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        look = dry_run.estimate_run(two_stages(), two_stages().conversations, log)
        assert (look.requests, look.prompt_tokens > 10) == (2, True)
        log.append(record("q0"))
        done = dry_run.estimate_run(plan(1), plan(1).conversations, log)
    assert (done.requests, done.first_request, done.prompt_tokens) == (0, None, 0)


def test_tokens_are_estimated_for_texts_and_images_of_all_requests(tmp_path: Path) -> None:
    shown = Step(stage="answer", build=lambda _: (user(Image(data=PIXEL), "x" * 400),), settings={})
    conversations = tuple(Conversation(qid=f"q{n}", sample=0, steps=(shown,)) for n in range(170))
    with Log(tmp_path / "log.jsonl", writes=False) as log:
        look = dry_run.estimate_run(Plan(conversations=conversations, model="m"), conversations, log)
    assert (look.prompt_tokens, look.image_tokens, look.max_completion_tokens) == (170 * 101, 170, None)
    assert list(tmp_path.iterdir()) == []
