"""The options of `grade infer`. No logic but parsing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.inference.options import InferOptions

KEY_VARIABLE = "OPENAI_API_KEY"


def _number_or_none(kind: type[int] | type[float], least: float, most: float | None = None) -> Any:
    """Return a callback that takes a number, or `none` for a setting that is not sent."""

    def callback(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
        if value is None:
            return _unset()
        if value.lower() == "none":
            return None
        try:
            number = kind(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is neither a number nor `none`") from None
        if not number >= least or (most is not None and number > most):
            raise click.BadParameter(f"{value} is not between {least} and {most if most is not None else 'any number'}")
        return number

    return callback


def _unset() -> Any:
    """Return what stands for an option that was not given; None is a setting that is not sent."""
    import msgspec

    return msgspec.UNSET


def _json_object(_context: click.Context, _parameter: click.Parameter, value: str | None) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        found = json.loads(value)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"is not JSON: {error.msg} (column {error.colno})") from None
    if not isinstance(found, dict):
        raise click.BadParameter('is not a JSON object, such as {"top_k": 20}')
    if taken := found.keys() & {"model", "messages", "n", "stream", "temperature", "top_p", "max_tokens", "seed"}:
        raise click.BadParameter(f"{sorted(taken)[0]} cannot be set here: it has an option, or is ours to set")
    return found


# fmt: off
model_options = options.group(
    click.option("--model", required=True, metavar="M", help="The model's name, as its server knows it."),
    click.option("--base-url", metavar="U",
                 help="Its OpenAI-compatible server, such as http://localhost:8000/v1 (default: OpenAI's)."),
    click.option("--api-key-env", default=KEY_VARIABLE, show_default=True, metavar="NAME",
                 help="Environment variable that holds the server's key."),
    click.option("-o", "--output", type=options.PATH, required=True, metavar="PREDICTIONS",
                 help="The prediction file to write (.json or .jsonl)."),
    click.option("--coder-model", metavar="M", help="HumanEval-V, --mode v2t2c: another model writes the code."),
    click.option("--coder-base-url", metavar="U", help="Its server (default: the same)."),
    click.option("--coder-api-key-env", metavar="NAME",
                 help="Environment variable of its server's key (default: the same, on the same server)."),
)
"""Who is asked."""

sampling_options = options.group(
    click.option("-n", "--samples", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
                 help="Samples a task."),
    click.option("--temperature", callback=_number_or_none(float, 0, 10), metavar="T",
                 help="Default: as in the benchmark's official runs; `none`: not sent."),
    click.option("--top-p", callback=_number_or_none(float, 0, 1), metavar="P", help="Likewise."),
    click.option("--max-tokens", callback=_number_or_none(int, 1), metavar="N",
                 help="Tokens of a reply, its reasoning included. Likewise."),
    click.option("--seed", callback=_number_or_none(int, 0), metavar="N",
                 help="Seed of a task's first sample, the next one's is one more (default 0); `none`: not sent."),
    click.option("--extra-body", callback=_json_object, metavar="JSON",
                 help='More fields of each request, such as {"top_k": 20}.'),
)
"""How it answers."""

prompt_options = options.group(
    click.option("--mode", default="", metavar="MODE", help="HumanEval-V: v2c, v2c-cot, v2t2c or t2c."),
    click.option("--shots", type=click.IntRange(min=0), default=0, metavar="K",
                 help="Mr-Ben: demonstrations in the prompt."),
    click.option("--prompt", type=options.PATH, metavar="FILE", help="A jinja2 template instead of our wording."),
    click.option("--system", type=options.PATH, metavar="FILE", help="A system message before the prompt."),
    click.option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="Sent with each image."),
    click.option("--max-image-pixels", type=click.IntRange(min=1), metavar="N",
                 help="Make larger images smaller (default: every image is sent as it is)."),
)
"""What is sent."""

run_options = options.group(
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks."),
    click.option("--id", "ids", multiple=True, metavar="QID", help="Only this task; repeatable."),
    click.option("--concurrency", type=click.IntRange(min=1, max=1024), default=16, show_default=True, metavar="N",
                 help="Requests at a time, at most; fewer after HTTP 429."),
    click.option("--request-timeout", type=click.FloatRange(min=0.1, max=86400), default=600.0, show_default=True,
                 metavar="S", help="Seconds that a request may take."),
    click.option("--attempts", type=click.IntRange(min=1, max=1000), default=12, show_default=True, metavar="N",
                 help="Requests for one reply while the server fails."),
    click.option("--retry-time", type=click.FloatRange(min=0), default=600.0, show_default=True, metavar="S",
                 help="Seconds after which a failing request is given up."),
    click.option("--max-total-tokens", type=click.IntRange(min=1), metavar="N",
                 help="Stop when all requests of the prediction file have used so many tokens."),
    click.option("--accept-empty", is_flag=True, help="An empty reply is the model's answer."),
    click.option("--fresh", is_flag=True, help="Start over; earlier files are kept under other names."),
    click.option("--dry-run", is_flag=True, help="Send nothing; show what would be sent."),
)
"""How the run goes."""

batch_options = options.group(
    click.option("--batch-file", type=options.PATH, metavar="OUT",
                 help="Send nothing; write the requests as an OpenAI batch file (`vllm run-batch` reads it)."),
    click.option("--from-batch", type=options.PATH, metavar="IN", help="Take the replies from a batch's output."),
)
"""Asking through files."""

grade_options = options.group(
    click.option("--grade", is_flag=True, help="Go on to the score; takes the options of `grade` below."),
    click.option("--missing", type=click.Choice(["error", "wrong"]), default="error", show_default=True,
                 help="What a task without a prediction is."),
    options.sandbox_options,
    options.judge_options,
    options.gate_options,
    click.option("--report", "reports", type=options.FILE, multiple=True, metavar="FILE",
                 help="Also write a report here: .json, .csv, .md, .xml (JUnit), .html; repeatable."),
)
"""Grading."""
# fmt: on


def check(context: click.Context) -> None:
    """Refuse options that mean nothing together; raises UsageError."""
    given = context.params
    _refuse_without_grade(context)
    if given["dry_run"] + (given["batch_file"] is not None) + (given["from_batch"] is not None) > 1:
        raise UsageError("--dry-run, --batch-file and --from-batch: give one of them.")
    if given["coder_model"] is None and (given["coder_base_url"] or given["coder_api_key_env"]):
        raise UsageError("--coder-base-url and --coder-api-key-env need --coder-model.")
    if given["coder_model"] is not None and given["mode"] != "v2t2c":
        raise UsageError("--coder-model needs --mode v2t2c: only there another model writes the code.")


def _refuse_without_grade(context: click.Context) -> None:
    if context.params["grade"]:
        return
    shared = {"cache"}  # what a configuration file may say for `grade`
    for parameter in grade_parameters():
        source = context.get_parameter_source(parameter)
        if source is click.core.ParameterSource.COMMANDLINE and parameter not in shared:
            option = next(each for each in context.command.params if each.name == parameter)
            raise UsageError(f"{option.opts[-1]} is an option of grading: add --grade, or leave it out.")


def grade_parameters() -> list[str]:
    """Return the names of the parameters that only grading has."""

    @click.command()
    @grade_options
    def collected(**_: Any) -> None:
        """Hold the options."""

    return [parameter.name or "" for parameter in collected.params if parameter.name != "grade"]


def parsed(given: dict[str, Any]) -> InferOptions:
    """Return the options as the library takes them."""
    from grader.inference.options import InferOptions, ModelAt
    from grader.models.client import Patience

    coder = None
    if given["coder_model"] is not None:
        same = given["coder_base_url"] is None
        # A key is not sent to a server that it was not given for.
        variable = given["coder_api_key_env"] or (given["api_key_env"] if same else None)
        coder = ModelAt(
            name=given["coder_model"],
            base_url=given["base_url"] if same else given["coder_base_url"],
            key_variable=variable,
        )
    taken = InferOptions.__struct_fields__
    plain = {name: value for name, value in given.items() if name in taken and name not in {"model", "coder", "seed"}}
    return InferOptions(
        model=ModelAt(name=given["model"], base_url=given["base_url"], key_variable=given["api_key_env"]),
        coder=coder,
        seed=0 if given["seed"] is _unset() else given["seed"],
        patience=Patience(attempts=given["attempts"], seconds=given["retry_time"]),
        **plain,
    )
