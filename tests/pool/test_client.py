"""`Pool` from threads, forks and other processes, with a real process behind it; texts alone, so it is quick."""

import asyncio
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

import grader
from grader.errors import DataUnavailableError, GradeError, InfrastructureError, UsageError
from grader.pool import starting
from grader.results import Outcome
from tests.asynchronous import result_of
from tests.clusters import is_there
from tests.conftest import ROOT

# One worker has the pool.
pytestmark = pytest.mark.xdist_group("pool")
SAMPLE = ROOT / "benchmarks" / "vstar" / "sample"
OPTIONS: dict[str, Any] = {"benchmark": "vstar", "data": SAMPLE / "questions.jsonl"}


def samples() -> list[tuple[str, str]]:
    records = json.loads((SAMPLE / "predictions.json").read_text())
    return [(record["qid"], text) for record in records for text in record["predictions"]]


@pytest.fixture(scope="module")
def pool() -> Iterator[grader.Pool]:
    with grader.Pool(shared=False, **OPTIONS) as made:
        yield made


def ends(pid: int, seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while is_there(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_there(pid)


def test_results_are_those_of_a_run_in_the_order_asked(pool: grader.Pool) -> None:
    report = grader.grade(SAMPLE / "predictions.json", **OPTIONS)
    expected = {(sample.qid, sample.sample): (sample.official, sample.careful) for sample in report.samples}
    asked = samples()[::-1]
    results = pool.grade_samples(asked)
    assert [result.qid for result in results] == [qid for qid, _ in asked]
    if len(expected) == len({qid for qid, _ in asked}):
        assert {(r.qid, r.sample): (r.official, r.careful) for r in results} == expected
    again = [asked[0], (asked[0][0], "A \ud800"), asked[0]]
    assert [result.sample for result in pool.grade_samples(again)] == [0, 1, 2]


def test_eight_threads_share_it(pool: grader.Pool) -> None:
    expected = pool.grade_samples(samples())
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: pool.grade_samples(samples()), range(40))) == [expected] * 40


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_shares_it_even_while_another_thread_uses_it(pool: grader.Pool) -> None:
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            pool.grade_samples(samples())

    thread = threading.Thread(target=use)
    thread.start()
    try:
        expected = pool.grade_samples(samples())
        for _ in range(5):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if pool.grade_samples(samples()) == expected else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()
    assert pool.grade_samples(samples()) == expected


def test_a_lost_sample_has_no_credit_and_no_reward() -> None:
    with grader.Pool(**OPTIONS) as pool:
        results = pool.grade_samples([("0", "B"), ("0", "A"), ("unknown", "B")])
    assert [(result.careful.outcome.value, result.careful.credit, result.reward) for result in results] == [
        ("correct", 1, 1),
        ("wrong", 0, 0),
        ("unscored", None, None),
    ]


def test_a_pickled_pool_is_the_same_pool() -> None:
    with grader.Pool(linger=7.25, **OPTIONS) as one:
        other = pickle.loads(pickle.dumps(one))
        try:
            assert other.state().pid == one.state().pid
        finally:
            other.close()


def test_processes_that_start_at_once_share_one_process() -> None:
    program = (
        "import sys, grader; p = grader.Pool(benchmark='vstar', data=sys.argv[1], linger=8.75); "
        "p.start(); print(p.state().pid, flush=True); sys.stdin.read(); p.close()"
    )
    command = [sys.executable, "-c", program, str(OPTIONS["data"])]
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    pids = {int(process.stdout.readline()) for process in processes if process.stdout}
    for process in processes:
        process.communicate("")
    assert len(pids) == 1
    assert ends(pids.pop())


def test_a_process_that_is_killed_is_replaced_and_the_call_goes_on() -> None:
    with grader.Pool(shared=False, **OPTIONS) as own:
        expected = own.grade_samples(samples())
        os.kill(own.state().pid, signal.SIGKILL)
        assert own.grade_samples(samples()) == expected
        killed = own.state().pid

        def kill_soon() -> None:
            os.kill(killed, signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(killed, signal.SIGKILL)

        thread = threading.Thread(target=kill_soon)
        thread.start()
        assert own.grade_samples(samples()) == expected
        thread.join()


def test_it_ends_when_the_last_one_closes_it_and_not_before() -> None:
    one, other = grader.Pool(linger=6.5, **OPTIONS).start(), grader.Pool(linger=6.5, **OPTIONS).start()
    pid = one.state().pid
    one.close()
    assert is_there(pid)
    other.close()
    assert ends(pid)


def test_it_ends_when_the_last_one_was_killed() -> None:
    program = (
        "import sys, grader; p = grader.Pool(benchmark='vstar', data=sys.argv[1], shared=False, linger=0.5); "
        "p.start(); print(p.state().pid, flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(OPTIONS["data"])], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    assert ends(pid)


def test_an_unknown_task_costs_only_its_own_sample_a_result(pool: grader.Pool) -> None:
    *known, unknown = pool.grade_samples([*samples(), ("nowhere", "A")])
    assert known == pool.grade_samples(samples())
    assert (unknown.qid, unknown.careful.outcome) == ("nowhere", Outcome.UNSCORED)
    assert "vstar has no task 'nowhere'" in unknown.careful.detail


def test_a_sample_can_bring_its_task(pool: grader.Pool) -> None:
    row = json.loads((SAMPLE / "questions.jsonl").read_text().splitlines()[0])
    qid = row["question_id"]
    text = next(text for name, text in samples() if name == qid)
    (expected,) = pool.grade_samples([(qid, text)])
    brought = pool.grade_samples([(row | {"question_id": name}, text) for name in ("another", None)])
    assert [(result.careful, result.qid) for result in brought] == [
        (expected.careful, "another"), (expected.careful, "row"),
    ]  # fmt: skip
    with pickle.loads(pickle.dumps(pool)) as own:
        assert own.add_tasks([row | {"question_id": "added"}]) == {}
        with pickle.loads(pickle.dumps(own)) as other:
            (added,) = other.grade_samples([("added", text)])
    assert added.careful == expected.careful


@pytest.mark.parametrize("row", [{"text": "?"}, {"qid": None, "id": None, "text": "?"}])
def test_a_task_without_an_id_is_not_added(pool: grader.Pool, row: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"rows\[0\] has no column qid or .* with the id of its task"):
        pool.add_tasks([row])


def test_results_come_one_by_one(pool: grader.Pool) -> None:
    async def found() -> dict[int, Any]:
        return {place: result async for place, result in pool.as_completed_async(samples())}

    expected = dict(enumerate(pool.grade_samples(samples())))
    assert dict(pool.as_completed(samples())) == expected
    assert result_of(found()) == expected


def test_a_thousand_asynchronous_calls_need_no_more_descriptors_than_a_process_has(pool: grader.Pool) -> None:
    async def results() -> list[list[Any]]:
        return await asyncio.gather(*(pool.grade_samples_async([sample]) for sample in asked))

    asked = (samples() * 1000)[:1000]
    expected = pool.grade_samples(samples())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        found = result_of(results())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    verdicts = {result.qid: result.careful for result in expected}
    assert [result.careful for (result,) in found] == [verdicts[qid] for qid, _ in asked]


def test_a_caller_may_stop_in_the_middle(pool: grader.Pool) -> None:
    for _ in pool.as_completed(samples()):
        break
    assert len(pool.grade_samples(samples())) == len(samples())


def test_a_samples_own_deadline_costs_no_other_its_result(pool: grader.Pool) -> None:
    (qid, text), *others = samples()
    first, *rest = pool.grade_samples([{"qid": qid, "text": text, "wait": 1e-6}, *others])
    assert first.careful.outcome is Outcome.UNSCORED
    assert "not scored within 1e-06 seconds" in first.careful.detail
    assert rest == pool.grade_samples(others)


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (("x", None), r"samples\[0\]: expected \(qid, raw output\)"),
        ({"qid": "x"}, r"samples\[0\]: .*text"),
        ({"qid": "x", "text": "A", "memory": "lots"}, r"samples\[0\]: 'lots' is not a size"),
        ({"row": "x", "text": "A"}, r"samples\[0\]: its row is 'x'"),
    ],
)
def test_what_is_no_sample_is_an_error_that_names_its_place(pool: grader.Pool, sample: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        pool.grade_samples([sample])


def test_a_benchmark_that_executes_nothing_has_no_limits(pool: grader.Pool) -> None:
    qid, text = samples()[0]
    (result,) = pool.grade_samples([{"qid": qid, "text": text, "timeout": 1}])
    assert "executes nothing" in result.careful.detail


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"benchmark": "vstar", "data": "/nowhere/questions.jsonl"}, GradeError),
        ({"benchmark": "vstar", "protocol": "v99", "data": OPTIONS["data"]}, UsageError),
    ],
)
def test_what_keeps_it_from_starting_is_raised_where_it_is_started(
    options: dict[str, Any], kind: type[GradeError]
) -> None:
    with pytest.raises(kind) as caught, grader.Pool(shared=False, **options):
        pass
    assert not isinstance(caught.value, DataUnavailableError) or "nowhere" in str(caught.value)


def test_a_system_that_refuses_files_is_an_infrastructure_error() -> None:
    """A full disk, or no descriptor: `grade serve` then says 503, try again."""
    made = grader.Pool(shared=False, **OPTIONS)
    lock = starting.pool_folder() / f"{made._settings.name}.lock"
    lock.mkdir()
    try:
        with pytest.raises(InfrastructureError, match=r"cannot be reached or started: .*Is a directory"):
            made.start()
    finally:
        lock.rmdir()


def test_a_program_that_has_loaded_other_code_is_told_to_start_again() -> None:
    """Its requests and the results of a process with the new code may not match."""
    made = grader.Pool(shared=False, **OPTIONS)
    made._settings = msgspec.structs.replace(made._settings, code="before an update")
    with pytest.raises(InfrastructureError, match=r"files of grade in .* have changed .* Start the program again"):
        made.start()


def test_a_socket_that_nobody_listens_on_is_in_nobodys_way() -> None:
    own = grader.Pool(shared=False, **OPTIONS)
    path = starting.socket_path(own._settings.name)
    path.write_text("left by one that was killed")
    with own:
        assert len(own.grade_samples(samples())) == len(samples())
    assert not list(path.parent.glob(f"{path.stem}*")), "nor is anything left of it"


@pytest.mark.parametrize("wait", [0, float("nan"), "10", True])
def test_a_wait_that_is_no_time_is_refused(pool: grader.Pool, wait: Any) -> None:
    with pytest.raises(UsageError, match="wait"):
        pool.grade_samples(samples(), wait=wait)


def test_nobody_waits_longer_than_they_said() -> None:
    """The process does not answer at all here: what it would say of a round that takes long is no help then."""
    with grader.Pool(shared=False, **OPTIONS) as own:
        pid = own.state().pid
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            (result,) = own.grade_samples(samples()[:1], wait=0.5)
            assert time.monotonic() - began < 30
        finally:
            os.kill(pid, signal.SIGCONT)
        assert result.careful.outcome is Outcome.UNSCORED
        assert "not scored within 0.5 seconds" in result.careful.detail
        assert own.grade_samples(samples()[:1])[0].careful.outcome is not Outcome.UNSCORED
