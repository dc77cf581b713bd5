"""Declarations: found by id or folder, and what is wrong with one is said by its name."""

from pathlib import Path

import pytest

from grader import resources
from grader.errors import InputError, UsageError
from grader.results import Report
from grader.scorers import declarations, registry
from grader.scorers.choice.readers import official_readers
from tests.tables import each

MINIMAL = """
id = "own"
name = "Own"
scoring = "multiple_choice"
default_split = "test"
default_protocol = "v1"
[columns]
id = "qid"
[splits.test]
data = "tasks.jsonl"
[protocols.v1]
reader = "mmmu"
"""
EXECUTION = (
    MINIMAL.replace("multiple_choice", "execution")
    .replace('"qid"', '"qid"\ntests = "t"')
    .replace('reader = "mmmu"', "")
)
COMPARE = "benchmark.toml: protocols.v1: compare = "
UNKNOWN_COMPARISON = (
    "unknown comparison; the comparisons are evalplus, exact, float:1e-6, lines, near:1e-6, numbers, tokens, trimmed"
)
NO_DIFFERENCE = "the largest difference has to follow, as in `float:1e-6`"


def declare(folder: Path, text: str) -> str:
    (folder / "benchmark.toml").write_text(text)
    return str(folder)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        declarations.load(declare(folder, text))
    return str(caught.value).removeprefix(f"{folder}/")


@each("name", declarations.names())
def test_every_benchmark_that_came_with_grade_loads(name: str) -> None:
    made = declarations.load(name)
    assert made.id == name
    assert made.split(None)[0] == made.default_split
    assert made.resolve_protocol(None) == made.default_protocol
    assert Path(made.folder) == resources.folder("benchmarks") / name


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('nmae = "x"\n' + MINIMAL, "benchmark.toml: Object contains unknown field `nmae`; did you mean `name`?"),
        (
            MINIMAL.replace('"test"', '"tset"'),
            "benchmark.toml: default_split = 'tset': there is no such split; the splits are test",
        ),
        (
            MINIMAL.replace('"v1"', '"v2"'),
            "benchmark.toml: default_protocol = 'v2': there is no such protocol; the protocols are v1",
        ),
        ('answer_between = ["*", ""]\n' + MINIMAL, "benchmark.toml: answer_between: a mark is empty"),
        (
            MINIMAL.replace('"qid"', '"qid"\ngroups = ["filter"]'),
            "benchmark.toml: groups, derived: no grouping can be named 'filter', which is that of a log's filters: "
            "rename the column",
        ),
        (
            MINIMAL.replace('"qid"', '"qid"\nanswr = "a"'),
            "benchmark.toml: Object contains unknown field `answr` - at `$.columns`; did you mean `answer`?",
        ),
        (
            MINIMAL.replace('"multiple_choice"', '"circle"'),
            "benchmark.toml: scoring = 'circle': unknown scorer; the scorers are execution, multiple_choice, "
            "circular, mr_score, answer. Did you mean 'circular'? A scorer of your own is found when its package is "
            "installed "
            "beside grade (docs/own-scorer.md).",
        ),
        (MINIMAL.replace('scoring = "multiple_choice"', ""), "benchmark.toml: Object missing required field `scoring`"),
        (
            MINIMAL.replace('"qid"', '"qid"\nalso_named = { A = "a" }'),
            "benchmark.toml: Object contains unknown field `also_named` - at `$.columns`; it belongs to the top of the "
            "file",
        ),
        (
            MINIMAL.replace('"qid"', '"qid"\nanswer_from = 0'),  # not `answer`, which is similar
            "benchmark.toml: Object contains unknown field `answer_from` - at `$.columns`; it belongs to the top of "
            "the file",
        ),
        (
            EXECUTION + 'checker = "check.py"\n',
            "benchmark.toml: Object contains unknown field `checker` - at `$.protocols[...]`; it belongs to the top of "
            "the file or [columns]",
        ),
        (
            MINIMAL + "limit = 1\n",
            "benchmark.toml: Object contains unknown field `limit` - at `$.protocols[...]`; the fields are "
            "description, revision, rows, image, reader",
        ),
        (
            'kind = "short"\n' + EXECUTION.replace("execution", "answer").replace('tests = "t"', 'answer = "a"'),
            "benchmark.toml: Invalid enum value 'short' - at `$.kind`; the values are number, expression, text, "
            "literal, yes_no",
        ),
        (EXECUTION + "k = 0\n", "benchmark.toml: Expected `int` >= 1 - at `$.protocols[...].k`"),
        (EXECUTION + "timeout = 0\n", "benchmark.toml: Expected `float` >= 0.1 - at `$.protocols[...].timeout`"),
        (
            EXECUTION + "times_reference = nan\n",
            "benchmark.toml: Expected `float` >= 0.0 - at `$.protocols[...].times_reference`",
        ),
        (
            EXECUTION + 'assembly = "plane"\n',
            "benchmark.toml: Invalid enum value 'plane' - at `$.protocols[...].assembly`; the values are "
            "humaneval-v-v1, humaneval-v-v2, livecodebench, plain",
        ),
        (
            EXECUTION.replace('tests = "t"', 'inputs = "i"\noutputs = "o"\nprompt = "statement"'),
            "benchmark.toml: [columns] has `prompt`, code to continue, and no `function`: a task in words is in "
            "`question`",
        ),
        (EXECUTION + 'compare = "fuzzy"\n', f"{COMPARE}'fuzzy': {UNKNOWN_COMPARISON}"),
        (EXECUTION + 'compare = "near"\n', f"{COMPARE}'near': {UNKNOWN_COMPARISON}"),
        (EXECUTION + 'compare = "same values"\n', f"{COMPARE}'same values': {UNKNOWN_COMPARISON}"),
        (EXECUTION + 'compare = "float:x"\n', f"{COMPARE}'float:x': {NO_DIFFERENCE}"),
        (EXECUTION + 'compare = "float:-1"\n', f"{COMPARE}'float:-1': {NO_DIFFERENCE}"),
        (
            EXECUTION + 'compare = "evalplus"\ncompare_careful = "evalplus"\n',
            f"benchmark.toml: protocols.v1: compare_careful = 'evalplus': {UNKNOWN_COMPARISON}",
        ),
        (
            MINIMAL.replace("mmmu", "mmu"),
            f"benchmark.toml: protocols.v1: reader 'mmu' is unknown; known: {', '.join(sorted(official_readers()))}",
        ),
        (
            MINIMAL.replace('reader = "mmmu"', ""),
            f"benchmark.toml: protocols.v1: reader is missing; known: {', '.join(sorted(official_readers()))}",
        ),
        ('letters = "AABC"\n' + MINIMAL, 'benchmark.toml: letters = "AABC": A is a duplicate'),
        (
            'letters = ""\n' + MINIMAL,
            "benchmark.toml: letters is empty: name the letters that options can have "
            '(letters = "ABCD"), or omit it for ABCD',
        ),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_refused_and_the_field_named(extra: str, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, extra) == message


@pytest.mark.parametrize("text", ["id = ", "\x00", "n = " + 9_999 * "[", "n = " + 9_999 * "1"])
def test_what_is_no_toml_is_an_error_that_names_the_file(text: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text).startswith("benchmark.toml: ")


def test_an_unknown_benchmark_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        declarations.load("humanevalv")
    assert str(caught.value) == (
        f"There is no benchmark 'humanevalv': it is neither one of {', '.join(declarations.names())} "
        "nor a folder with a benchmark.toml. Did you mean humaneval-v?"
    )
    with pytest.raises(UsageError, match=r"benchmark\.toml\. .* more in examples/benchmarks\.$"):
        declarations.load("bbh")
    (tmp_path / "signs").mkdir()
    declare(tmp_path / "signs", MINIMAL)
    with pytest.raises(UsageError, match=f"Did you mean {tmp_path}/signs"):
        declarations.load(f"{tmp_path}/sings")


def test_the_results_of_a_benchmark_of_ones_own_need_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    report = Report(benchmark="own", scorer="multiple_choice", split="test", protocol="v1", metrics=[], samples=[])
    with pytest.raises(UsageError, match=r"Give the folder with its benchmark\.toml: -b FOLDER\."):
        declarations.id_or_folder(report, None)
    assert declarations.id_or_folder(report, "folder") == "folder"
    (tmp_path / "own").mkdir()
    (tmp_path / "own/benchmark.toml").write_text(MINIMAL)
    monkeypatch.chdir(tmp_path)
    assert declarations.id_or_folder(report, None) == "own"


def test_a_scorer_that_is_not_installed_is_named() -> None:
    report = Report(benchmark="b", scorer="gone", split="s", protocol="p", metrics=[], samples=[])
    with pytest.raises(UsageError, match="unknown scorer"):
        registry.scorer_of(report)
