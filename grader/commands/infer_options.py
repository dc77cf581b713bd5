"""The options of `grade infer`, and how their values are parsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.commands.options import WholeNumber
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.inference.options import InferOptions

KEY_VARIABLE = "OPENAI_API_KEY"


def _number_or_none(kind: type[int] | type[float], least: float, most: float | None = None) -> Any:
    """Return a callback that parses a number, or `none` for a setting that must not be sent."""

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
    """Return the value of an option that was not given; None is a setting that must not be sent."""
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
        raise click.BadParameter(f"{sorted(taken)[0]} cannot be set here: use its option, if it has one")
    return found


# fmt: off
model_options = options.group(
    click.option("--model", metavar="M", help="The model's name on its server."),
    click.option("--base-url", metavar="U",
                 help="URL of an OpenAI-compatible server, such as http://localhost:8000/v1 (default: OpenAI's)."),
    click.option("--api-key-env", default=KEY_VARIABLE, show_default=True, metavar="NAME",
                 help="Environment variable that holds the server's API key."),
    click.option("-o", "--output", type=options.PATH, metavar="PREDICTIONS",
                 help="The prediction file to write (.json or .jsonl)."),
    click.option("--coder-model", metavar="M", help="HumanEval-V, --mode v2t2c: use another model to write the code."),
)
"""The models and their servers."""

sampling_options = options.group(
    click.option("-n", "--samples", type=WholeNumber(min=1), default=1, show_default=True, metavar="N",
                 help="Samples per task."),
    click.option("--temperature", callback=_number_or_none(float, 0, 10), metavar="T",
                 help="Sampling temperature. Default: as in the benchmark's official runs; `none`: not sent."),
    click.option("--top-p", callback=_number_or_none(float, 0, 1), metavar="P", help="Likewise, for top-p sampling."),
    click.option("--max-tokens", callback=_number_or_none(int, 1), metavar="N",
                 help="Likewise, the maximum tokens of a reply, including its reasoning."),
    click.option("--seed", callback=_number_or_none(int, 0), metavar="N",
                 help="Seed of each task's first sample; the next sample has seed N+1 (default 0); `none`: not sent."),
    click.option("--extra-body", callback=_json_object, metavar="JSON",
                 help='Additional fields for each request, such as {"top_k": 20}.'),
)
"""Sampling."""

prompt_options = options.group(
    click.option("--mode", default="", metavar="MODE", help="HumanEval-V: v2c, v2c-cot, v2t2c or t2c."),
    click.option("--shots", type=WholeNumber(min=0), default=0, metavar="K",
                 help="Mr-Ben: number of demonstrations in the prompt."),
    click.option("--prompt", type=options.PATH, metavar="FILE", help="A jinja2 template that replaces the prompt."),
    click.option("--system", type=options.PATH, metavar="FILE", help="A file with a system message."),
    click.option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="`detail` of each image."),
    click.option("--max-image-pixels", type=WholeNumber(min=1), metavar="N",
                 help="Scale larger images down to N pixels (default: images are sent unchanged)."),
    click.option("--without-images", is_flag=True, help="Send the prompts without their images."),
)
"""The prompt and the images."""

run_options = options.group(
    options.LIMIT,
    options.date_options,
    options.IDS,
    click.option("--concurrency", type=WholeNumber(min=1, max=1024), default=16, show_default=True, metavar="N",
                 help="Requests at a time; lowered after HTTP 429."),
    click.option("--request-timeout", type=click.FloatRange(min=0.1, max=86400), default=600.0, show_default=True,
                 metavar="S", help="Seconds that one request may take."),
    click.option("--retry-time", type=click.FloatRange(min=0), default=600.0, show_default=True, metavar="S",
                 help="Seconds until a request that keeps failing is given up."),
    click.option("--max-total-tokens", type=WholeNumber(min=1), metavar="N",
                 help="Stop when this prediction file has cost N tokens in total."),
    click.option("--accept-empty", is_flag=True, help="Accept an empty reply as the model's answer."),
    click.option("--fresh", is_flag=True, help="Start over; earlier files are kept under other names."),
    click.option("--dry-run", is_flag=True,
                 help="Send nothing; show what would be sent. Neither --model nor -o is needed."),
    click.option("--grade", is_flag=True,
                 help="Then grade the predictions, with the options of the config file."),
)
"""The run."""
# fmt: on


def check(context: click.Context, given: dict[str, Any]) -> None:
    """Raise UsageError for options that cannot be combined, MissingParameter for those that requests need."""
    for option in () if given["dry_run"] else context.command.params:
        if option.name in {"model", "output"} and given[option.name] is None:
            raise click.MissingParameter(ctx=context, param=option)
    if given["coder_model"] is not None and given["mode"] != "v2t2c":
        raise UsageError("--coder-model needs --mode v2t2c: only this mode has a second model that writes the code.")


def parsed(given: dict[str, Any]) -> InferOptions:
    """Return the library's options for these parameters."""
    from grader.inference.options import InferOptions, ModelAt
    from grader.models.client import Patience

    def at(name: str) -> ModelAt:
        return ModelAt(name=name, base_url=given["base_url"], key_variable=given["api_key_env"])

    taken = InferOptions.__struct_fields__
    others = {"model", "output", "fresh", "coder", "seed"}
    plain = {name: value for name, value in given.items() if name in taken and name not in others}
    # A dry run without both names has no earlier replies, and reads and writes no file.
    is_new = given["model"] is None or given["output"] is None
    return InferOptions(
        model=at(given["model"] or ""),
        output=given["output"] or Path("predictions.json"),
        fresh=given["fresh"] or is_new,
        coder=None if given["coder_model"] is None else at(given["coder_model"]),
        seed=0 if given["seed"] is _unset() else given["seed"],
        patience=Patience(seconds=given["retry_time"]),
        **plain,
    )
