"""`grade infer` as a user runs it: from a server to a score."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.inference import session
from grader.inference.options import InferOptions
from grader.models.messages import request_messages
from tests.acceptance.asking import KEY, SAMPLES, VSTAR
from tests.acceptance.command import grade
from tests.models.server import Action, Asked, ModelServer, fail, say

pytestmark = pytest.mark.usefixtures("asks_in_tmp_path")


def answering(benchmark: str, data: Path, predictions: Path) -> Callable[[Asked], Action]:
    """Return what a server does that answers each request with the prediction of exactly that sample."""
    asked = InferOptions(model="m", output=Path("none.json"), benchmark=benchmark, data=data)
    texts: dict[str, list[str]] = defaultdict(list)
    for record in json.loads(predictions.read_text()):
        texts[str(record["qid"])] += record["predictions"]
    answers = {
        (json.dumps(request_messages(each.steps[0].build({}))), each.steps[0].settings["seed"]): texts[each.qid][
            each.sample
        ]
        for each in session.prepare(asked).plan.conversations
    }
    return lambda request: say(answers[json.dumps(request.body["messages"]), request.body["seed"]])


def metrics(results: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(results.read_text())["metrics"]
    return found


BUNDLED = {"mmbench": "questions.tsv", "mr-ben": "data"}


@pytest.mark.parametrize("benchmark", BUNDLED)
def test_a_model_that_answers_as_the_bundled_predictions_gets_their_scores(benchmark: str, tmp_path: Path) -> None:
    sample = SAMPLES / benchmark / "sample"
    data, predictions = sample / BUNDLED[benchmark], sample / "predictions.json"
    shared: list[object] = ["-b", benchmark, "--data", data]
    if (sample / "judge_replies.json").exists():
        (tmp_path / "grade.toml").write_text(f"judge-replies = {json.dumps(str(sample / 'judge_replies.json'))}\n")
    (tmp_path / "direct.json").write_bytes(predictions.read_bytes())
    direct = grade(tmp_path / "direct.json", *shared)
    assert direct.returncode == 0, direct.stderr
    with ModelServer(answering(benchmark, data, predictions)) as server:
        said = grade("infer", *shared, "--model", "m", "--base-url", server.url, "-o", "m.json", "--grade")
    assert said.returncode == 0, said.stderr
    assert metrics(tmp_path / "m_results.json") == metrics(tmp_path / "direct_results.json")
    results = json.loads((tmp_path / "m_results.json").read_text())
    assert results["model"] == "m"
    assert "temperature" in results["provenance"]["inference"]


def test_a_private_benchmark_is_asked_with_its_own_template_and_graded(tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    folder.mkdir()
    declared = (SAMPLES / "vstar" / "benchmark.toml").read_text().replace('id = "vstar"', 'id = "colours"', 1)
    own = declared.replace("max_tokens = 16", "max_tokens = 5").replace(
        "\n{{ question", "\n[{{ category }}] {{ question"
    )
    (folder / "benchmark.toml").write_text(own)
    rows = [
        {"question_id": str(n), "text": f"Which is {n}? (A) red (B) blue", "label": "AB"[n % 2], "category": "easy"}
        for n in range(4)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ModelServer.playing(say("B")) as server:
        words = ["-b", folder, "--data", "rows.jsonl", "--model", "m", "--base-url", server.url, "-o", "m.json"]
        said = grade("infer", *words, "--grade", "-q", "--without-images")
    assert said.returncode == 0, said.stderr
    assert sorted(asked.prompt for asked in server.asked)[0].startswith("[easy] Which is 0?\nA. red\nB. blue\n")
    assert {asked.body["max_tokens"] for asked in server.asked} == {5}
    overall = [each["value"] for each in metrics(tmp_path / "m_results.json") if each["group"] is None]
    assert overall == [50.0, 50.0]


def infer(server: ModelServer, *words: object, output: str = "m.json") -> subprocess.CompletedProcess[str]:
    return grade("infer", *VSTAR, "--model", "m", "--base-url", server.url, "-o", output, *words)


def test_failed_samples_are_listed_with_exit_3_and_the_same_command_asks_only_for_them(tmp_path: Path) -> None:
    def decide(request: Asked) -> Action:
        kite = "kite" in request.body["messages"][0]["content"][1]["text"]
        return fail(400, "too long") if kite else say("A")

    with ModelServer(decide) as server:
        said = infer(server, "--grade")
    assert said.returncode == 3
    assert f"0 #0: {server.url} replied with HTTP 400: too long" in said.stderr
    assert said.stderr.splitlines()[-2] == (
        "error: 1 of 10 samples is missing: 1 request failed. The same command asks only for these."
    )
    assert not (tmp_path / "m_results.json").exists()
    assert len(json.loads((tmp_path / "m.json").read_text())) == 9
    with ModelServer.playing(say("B")) as server:
        assert infer(server).returncode == 0
    assert len(server.asked) == 1
    assert len(json.loads((tmp_path / "m.json").read_text())) == 10


def test_a_refused_key_ends_the_run_and_nothing_is_called_failed(tmp_path: Path) -> None:
    with ModelServer.playing(fail(401)) as server:
        said = infer(server)
    assert said.returncode == 3
    assert said.stderr.splitlines()[-1] == (
        f"error: The model at {server.url} replied with HTTP 401: the key in OPENAI_API_KEY was refused. "
        "Set OPENAI_API_KEY, or name another variable with --api-key-env."
    )
    assert (tmp_path / "m_requests.jsonl").read_text() == ""


def test_other_settings_are_refused_until_fresh_and_the_old_files_are_kept(tmp_path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        assert infer(server).returncode == 0
        said = infer(server, "--temperature", 1, "--gen-kwargs", "max_tokens=99")
        assert said.returncode == 2
        assert "- max_tokens: 16 in the file, 99 now (" in said.stderr
        assert "- temperature: 0.0 in the file, 1.0 now" in said.stderr
        assert len(server.asked) == 10
        assert infer(server, "--temperature", 1, "--fresh").returncode == 0
    assert len(server.asked) == 20
    assert (tmp_path / "m_old-1.json").exists()
    assert (tmp_path / "m_requests_old-1.jsonl").exists()


def test_a_part_is_completed_by_the_whole_run_and_a_part_never_shrinks_it(tmp_path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        assert infer(server, "--limit", 3).returncode == 0
        assert infer(server, "--id", 7).returncode == 0
        assert infer(server).returncode == 0
        assert len(server.asked) == 10
        assert infer(server, "--limit", 2).returncode == 0
    assert [record["qid"] for record in json.loads((tmp_path / "m.json").read_text())] == list("0123456789")


@pytest.mark.parametrize("log", [None, ""])
def test_a_file_of_somebody_else_is_not_overwritten_nor_left_beside_another_log(
    log: str | None, tmp_path: Path
) -> None:
    (tmp_path / "m.json").write_text("[]")
    if log is not None:
        (tmp_path / "m_requests.jsonl").write_text(log)
    with ModelServer.playing(say("A")) as server:
        said = infer(server)
    assert said.returncode == 2
    assert "another program wrote it" in said.stderr
    assert (tmp_path / "m.json").read_text() == "[]"


def test_answers_that_were_cut_are_said_loudly_with_the_option_that_raises_the_limit() -> None:
    with ModelServer.playing(say("The", finish="length")) as server:
        said = infer(server, "-q")
    assert said.returncode == 0
    assert 'WARNING: 10 answers were cut at the token limit (finish_reason "length")' in said.stderr
    assert "Raise --gen-kwargs max_tokens=N" in said.stderr


def test_the_key_is_in_no_file_and_no_message_whatever_the_server_repeats(tmp_path: Path) -> None:
    def decide(request: Asked) -> Action:
        said = request.headers["authorization"]
        return say(said, reasoning=said) if request.number % 2 else fail(400, said)

    with ModelServer(decide) as server:
        said = infer(server, "--grade")
    assert said.returncode == 3
    assert KEY not in said.stdout + said.stderr
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_a_key_from_another_variable_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other-0123456789")
    with ModelServer.playing(say("A")) as server:
        assert infer(server, "--api-key-env", "OTHER_KEY", "--limit", 1).returncode == 0
    assert server.asked[0].headers["authorization"] == "Bearer sk-other-0123456789"


def test_a_dry_run_needs_neither_a_model_nor_a_file_which_requests_need(tmp_path: Path) -> None:
    said = grade("infer", *VSTAR, "--id", "0", "--dry-run", cwd=tmp_path)
    body = json.loads(said.stdout)
    assert "model" not in body
    assert body["messages"][0]["content"][1]["text"].startswith("What is the color of the kite?\nA. red\n")
    assert said.stderr.startswith("1 request. The first one is above; its images are abbreviated.\n")
    for given, missing in ((["--model", "m"], "'-o' / '--output'"), (["-o", "m.json"], "'--model'")):
        done = grade("infer", *VSTAR, *given, cwd=tmp_path)
        assert (done.returncode, f"Missing option {missing}" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_sends_and_writes_nothing_and_shows_the_first_request(tmp_path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        said = infer(server, "--dry-run", "-n", 2)
    assert (said.returncode, server.asked, list(tmp_path.iterdir())) == (0, [], [])
    body = json.loads(said.stdout)
    image, text = body["messages"][0]["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,<")
    assert text["text"].startswith("What is the color of the kite?\nA. red\n")
    assert said.stderr.startswith("20 requests to m. The first one is above; its images are abbreviated.\n")
    assert "At most 320 completion tokens." in said.stderr
    with ModelServer.playing(say("A")) as server:
        assert infer(server).returncode == 0
        said = infer(server, "--dry-run")
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "0 requests to m (10 already have a reply).\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mode", "v2c"], "--mode v2c: not a mode of vstar; it has no modes."),
        (["--coder-model", "c"], "--coder-model needs --mode v2t2c"),
        (["--gen-kwargs", '{"n": 2}'], "n cannot be set here"),
        (["--gen-kwargs", '{"n": 2'], "is not JSON: "),
        (["--gen-kwargs", "stop=a,b"], "'b' is not NAME=VALUE; a value with commas needs the form of a JSON object"),
        (["--gen-kwargs", "temperature=1"], "temperature cannot be set here"),
        (["--gen-kwargs", "mode=fast"], "mode cannot be set here"),
        (["--gen-kwargs", "top_p=NaN"], "top_p=NaN: NaN and Infinity are no numbers of JSON"),
        (["--gen-kwargs", "seed=x"], "seed=x is not a whole number"),
        (["--temperature", "warm"], "'warm' is neither a number nor `none`"),
        (["--prompt", "none.jinja"], "none.jinja: cannot be read"),
        (["--prompt", "empty.jinja"], "--prompt empty.jinja: the file is empty"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_anything_is_sent(
    words: list[str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "empty.jinja").write_text("\n")
    with ModelServer.playing(say("A")) as server:
        done = infer(server, *words)
    assert (done.returncode, server.asked) == (2, [])
    assert said in done.stderr


def test_data_without_its_images_is_refused_unless_that_is_meant(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in Path(str(VSTAR[3])).read_text().splitlines()]
    blind = "".join(json.dumps({name: row[name] for name in row if name != "image"}) + "\n" for row in rows)
    (tmp_path / "blind.jsonl").write_text(blind)
    words = ["infer", "-b", "vstar", "--data", "blind.jsonl", "--model", "m", "-o", "m.json", "--limit", 1]
    with ModelServer.playing(say("A")) as server:
        said = grade(*words, "--base-url", server.url)
        assert (said.returncode, server.asked) == (2, [])
        assert "The data has no images (column image)" in said.stderr
        assert grade(*words, "--base-url", server.url, "--without-images").returncode == 0
    assert isinstance(server.asked[0].body["messages"][0]["content"], str)
    assert json.loads((tmp_path / "m_requests.jsonl").read_text())["settings"]["without_images"] is True


def test_images_that_are_not_there_are_missed_in_the_folder_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "alone.jsonl").write_text(Path(str(VSTAR[3])).read_text())
    said = grade("infer", "-b", "vstar", "--data", "alone.jsonl", "--model", "m", "-o", "m.json", "--dry-run")
    assert said.returncode == 2
    assert f"relative to {tmp_path}: put the images there, or use --without-images to ask without them." in said.stderr


def test_settings_are_sent_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Be brief.")
    (tmp_path / "prompt.jinja").write_text("Look: {{ image }} then say: {{ question }}")
    words = ["--system", "system.txt", "--prompt", "prompt.jinja", "--image-detail", "low", "--temperature", "none"]
    words += ["--gen-kwargs", "top_p=none,max_tokens=none,seed=none"]
    with ModelServer.playing(say("A")) as server:
        assert infer(server, *words, "--limit", 1).returncode == 0
    assert server.asked[0].body.keys() == {"model", "messages"}
    system, user = server.asked[0].body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    before, image, after = user["content"]
    assert (before["text"], after["text"]) == ("Look: ", " then say: What is the color of the kite?")
    assert image["image_url"]["detail"] == "low"
    line = json.loads((tmp_path / "m_requests.jsonl").read_text())
    assert line["settings"].keys() == {"images", "image_detail", "image_positions"}
    assert line["settings"]["image_positions"] == [6]
    assert line["prompt"] == "[system]\nBe brief.\n\n[user]\nLook: \n then say: What is the color of the kite?"


@pytest.mark.parametrize(
    "given",
    [
        ["top_p=0.95,max_tokens=2048,seed=3,stop=END"],
        ['{"top_p": 0.95, "max_tokens": 2048, "seed": 3, "stop": "END"}'],
        ["top_p=0.95,max_tokens=2048", '{"seed": 3, "stop": "END"}'],
    ],
)
def test_settings_are_sent_with_a_seed_for_each_sample(given: list[str]) -> None:
    options = [word for each in given for word in ("--gen-kwargs", each)]
    with ModelServer.playing(say("A")) as server:
        assert infer(server, *options, "--temperature", 0.8, "--limit", 1, "-n", 2).returncode == 0
    sent = [{name: value for name, value in asked.body.items() if name != "messages"} for asked in server.asked]
    expected = {"model": "m", "temperature": 0.8, "top_p": 0.95, "max_tokens": 2048, "stop": "END"}
    assert sorted(sent, key=lambda body: body["seed"]) == [expected | {"seed": 3}, expected | {"seed": 4}]


def test_a_token_limit_under_its_other_name_replaces_the_benchmarks() -> None:
    with ModelServer.playing(say("A")) as server:
        given = ["--gen-kwargs", "max_completion_tokens=9000", "--limit", 2]
        assert "At most 18,000 completion tokens." in infer(server, *given, "--dry-run").stderr
        assert infer(server, *given).returncode == 0
    limits = [(asked.body.get("max_tokens"), asked.body["max_completion_tokens"]) for asked in server.asked]
    assert limits == [(None, 9000)] * 2


def test_the_configuration_table_says_which_benchmark_and_data_but_not_the_prediction_file(tmp_path: Path) -> None:
    data = json.dumps(str(VSTAR[3]))
    (tmp_path / "grade.toml").write_text(f'benchmark = "vstar"\ndata = {data}\noutput = "report.html"\n')
    with ModelServer.playing(say("A")) as server:
        said = grade("infer", "--model", "m", "--base-url", server.url, "-o", "m.json", "--limit", 1)
    assert said.returncode == 0, said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grade.toml", "m.json", "m_requests.jsonl"]


def test_grading_after_inference_obeys_the_config_file_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grade.toml").write_text('fail-under = "accuracy=99"\noutput = "report.csv"\n')
    monkeypatch.setenv("GRADE_OUTPUT_DIR", str(tmp_path / "there"))
    with ModelServer.playing(say("A")) as server:
        said = infer(server, "--grade", "--limit", 10)
    assert said.returncode == 1, said.stderr
    assert "GATE NOT MET: accuracy" in said.stderr
    assert (tmp_path / "report.csv").exists()
    assert (tmp_path / "there" / "m_results.json").exists()
