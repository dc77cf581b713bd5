"""What a run would send."""

from pathlib import Path

from grader.inference.dry_run import describe_run
from grader.inference.log import Log
from tests.inference.made import plan, record, two_stages


def test_a_later_step_is_shown_with_a_placeholder_and_nothing_left_is_nothing_to_show(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        assert describe_run(two_stages(), two_stages().conversations, log).requests == 2
        log.append(record("q", stage="description"))
        later = describe_run(two_stages(), two_stages().conversations, log)
        assert (later.requests, later.answered_requests) == (1, 1)
        assert "code for <the description that the model gives first>" in str(later.first_request)
        log.append(record("q0"))
        done = describe_run(plan(1), plan(1).conversations, log)
    assert (done.requests, done.first_request) == (0, None)
