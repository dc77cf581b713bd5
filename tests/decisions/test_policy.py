"""A policy: which results a gate is about, what blocks it, one family of tests, and what a wrong policy is told."""

from pathlib import Path

import msgspec
import pytest

from grader.decisions.policy import Decisions, Gate, Policy, decide, read_policy
from grader.errors import InputError, UsageError
from grader.results import Report
from grader.scorers.means import each_observation, metric_rows
from tests.made_runs import of_sample, report, sample
from tests.tables import each


def run(outcomes: str, *, group: str = "", **changed: str) -> Report:
    """Return V* results; a letter a question: c is correct, w wrong, u unscored."""
    words = {"c": "correct", "w": "wrong", "u": "unscored"}
    samples = [sample(f"q{n}", words[letter], group=group) for n, letter in enumerate(outcomes)]
    return msgspec.structs.replace(report(samples, metric_rows(samples, "accuracy", each_observation)), **changed)


def states(gates: list[Gate], runs: dict[str, Report], baselines: dict[str, Report] | None = None) -> list[str]:
    return [gate.state for gate in decided(gates, runs, baselines).gates]


def decided(gates: list[Gate], runs: dict[str, Report], baselines: dict[str, Report] | None = None) -> Decisions:
    return decide(Policy(gate=gates), "p.toml", list(runs.items()), list(baselines.items()) if baselines else None)


def gate(**fields: object) -> Gate:
    return Gate(**{"benchmark": "vstar", "metric": "accuracy", "at_least": 50, **fields})  # type: ignore[arg-type]


def test_a_gate_is_about_the_results_of_its_benchmark_and_split_and_protocol() -> None:
    runs = {"a": run("cc", split="one"), "b": run("ww", split="two"), "mr": of_sample("mr-ben")}
    assert states([gate(split="one"), gate(split="two")], runs) == ["met", "not met"]


def test_missing_and_ambiguous_results_block_a_gate_and_say_which_there_are() -> None:
    found = decided([gate(benchmark="mmbench"), gate()], {"a": run("cc"), "b": run("cc")}).gates
    assert [one.state for one in found] == ["blocked", "blocked"]
    assert found[0].reason.startswith("there are no results of mmbench; there are vstar (")
    assert found[1].reason == "ambiguous: a, b are all results of vstar; name split or protocol, or give one"


def test_an_advisory_gate_never_decides() -> None:
    made = decided([gate(), gate(at_least=90, advisory=True), gate(benchmark="gone", advisory=True)], {"a": run("cw")})
    assert ([one.state for one in made.gates], made.exit_code) == (["met", "not met", "blocked"], 0)
    unknown = gate(metric="f1", advisory=True)
    made = decided([gate(), unknown], {"a": run("cw")})
    assert ([one.state for one in made.gates], made.exit_code) == (["met", "blocked"], 0)
    assert made.gates[1].reason.startswith("This report has no metric 'f1'; it has accuracy.")
    with pytest.raises(UsageError, match="has no metric 'f1'"):
        decided([msgspec.structs.replace(unknown, advisory=False)], {"a": run("cw")})


@each(("outcomes", "code"), [("cc", 0), ("ww", 1), ("cu", 3)])
def test_the_exit_code_is_that_of_the_worst_gate(outcomes: str, code: int) -> None:
    assert decided([gate(at_least=60), gate(at_least=0)], {"a": run(outcomes)}).exit_code == code


def test_a_drop_may_be_a_share_of_the_baselines_value() -> None:
    before, now = run("c" * 160 + "w" * 40), run("c" * 150 + "w" * 50)
    relative, points = (gate(at_least=None, max_drop=text) for text in ("20 %", 20))
    found = decided([relative, points], {"now": now}, {"before": before}).gates
    # 20 % of 80 are 16 points, and 5 were lost.
    assert [one.state for one in found] == ["met", "met"]
    assert found[0].gate == "vstar: accuracy no more than 20 % of its value below the baseline (careful)"
    assert states([gate(at_least=None, max_drop="1%")], {"now": run("w" * 200)}, {"before": before}) == ["not met"]


def test_a_drop_can_be_that_of_a_group() -> None:
    before, now = (run(text, group="category=x") for text in ("c" * 100, "w" * 100))
    group = gate(at_least=None, max_drop=5, group="category=x")
    found = decided([group], {"now": now}, {"before": before}).gates
    assert found[0].state == "not met"
    assert "accuracy of category=x no more than 5 points" in found[0].gate


def test_a_baseline_that_is_missing_or_on_other_data_blocks_a_drop() -> None:
    change = gate(at_least=None, max_drop=5)
    other = of_sample("mr-ben")
    assert states([change], {"a": run("cc")}, {"b": other}) == ["blocked"]
    assert states([change], {"a": run("cc")}, {"b": run("ccc")}) == ["blocked"]


def test_a_failure_is_corrected_for_the_gates_that_decide_and_not_for_advisory_ones() -> None:
    before, now = run("c" * 200), run("c" * 178 + "w" * 22)
    change, line = gate(at_least=None, max_drop=7), gate(at_least=0)
    alone = decided([change, line], {"now": now}, {"before": before}).gates[0]
    assert (alone.state, alone.p_failed is not None and 0.01 < alone.p_failed < 0.05) == ("not met", True)
    advisory = msgspec.structs.replace(change, advisory=True)
    assert states([change, *[advisory] * 9], {"now": now}, {"before": before})[0] == "not met"
    assert states([change] * 10, {"now": now}, {"before": before})[0] == "inconclusive"


def test_a_drop_without_baselines_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"^p\.toml has a gate with max_drop, which needs --baseline FOLDER\.$"):
        decided([gate(max_drop=2)], {"a": run("cc")})


def test_a_gate_that_cannot_be_decided_is_named_with_a_metric_that_can() -> None:
    samples = [sample("a", "correct")]
    rows = metric_rows(samples, "accuracy", each_observation) + metric_rows(samples, "f1", each_observation)
    made = {"a": report(samples, rows, scorer="answer")}
    of = {"benchmark": next(iter(made.values())).benchmark, "max_drop": 2}
    with pytest.raises(UsageError, match=r"p\.toml: \$\.gate\[0\] \(.*\): .* f1: .* another one, such as accuracy\.$"):
        decided([Gate(metric="f1", **of)], made, made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no [[gate]]"),
        ("gate = []", "there is no [[gate]]"),
        ("[[gate]]\nbenchmark = 'vstar'\nmetric = 'accuracy'", "$.gate[0]: a gate needs at_least, max_drop, or both"),
        (
            "[[gate]]\nbenchmark = 'vstar'\nmetric = 'accuracy'\nat_last = 70",
            "unknown field `at_last` - at `$.gate[0]`; a gate can have benchmark, metric, split",
        ),
        ("[[gate]]\nbenchmark = 'v'\nmetric = 'm'\nat_least = 0.7", "Write 70 if you mean 70 %"),
        ("[[gate]]\nbenchmark = 'v'\nmetric = 'm'\nat_least = 'many'", "write a percentage, such as 70"),
        ("[[gate]]\nbenchmark = 'v'\nmetric = 'm'\nmax_drop = -1", "in points, or 3% of the baseline; not below 0."),
        ("[[gate]]\nbenchmark = 'v'\nmetric = 'm'\nmax_drop = 1\nconfident = true", "confident needs at_least"),
        ("[[gate]]\nbenchmark = 'v'\nmetric = 'm'\nat_least = 7\ngroup = 'x'", "write it like category=attributes"),
        ("[[gate\n", "Expected ']]'"),
        ("\ufeff[[gate\n", "Expected ']]'"),
        ("gate = " + 9_999 * "[", "maximum recursion depth exceeded"),
        ("gate = " + 9_999 * "1", "Exceeds the limit"),
    ],
)
def test_a_wrong_policy_is_told_where_and_why(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_policy(tmp_path / "p.toml")
    assert message in str(caught.value)
