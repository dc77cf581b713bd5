"""The options of `grade infer`, and how their values are parsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.inference.options import InferOptions

KEY_VARIABLE = "OPENAI_API_KEY"


def _parse_temperature(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> dict[str, float | None]:
    """Parse a temperature, or `none` for one that must not be sent; empty: the option was not given."""
    if value is None:
        return {}
    if value.lower() == "none":
        return {"temperature": None}
    try:
        number = float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor `none`") from None
    if not 0 <= number <= _HIGHEST_TEMPERATURE:
        raise click.BadParameter(f"{value} is not between 0 and {_HIGHEST_TEMPERATURE}")
    return {"temperature": number}


def _parse_gen_kwargs(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Parse `top_p=0.95,max_tokens=2048`, or a JSON object, each time it is given; a setting `none` is not sent."""
    return {name: setting for value in values for name, setting in _parse_settings(value).items()}


def _parse_settings(value: str) -> dict[str, Any]:
    is_json = value.lstrip().startswith("{")
    settings = _json_object(value) if is_json else dict(_name_and_value(part) for part in value.split(","))
    if reserved := sorted(settings.keys() & _RESERVED_SETTINGS):
        raise click.BadParameter(f"{reserved[0]} cannot be set here: use its option, if it has one")
    try:
        json.dumps(settings, allow_nan=False)
    except ValueError:
        raise click.BadParameter(f"{value}: NaN and Infinity are no numbers of JSON and cannot be sent") from None
    for name in _WHOLE_NUMBERS & settings.keys():
        is_whole_number = type(settings[name]) is int and settings[name] >= 0
        if settings[name] is not None and not is_whole_number:
            raise click.BadParameter(f"{name}={settings[name]} is not a whole number")
    return settings


_HIGHEST_TEMPERATURE = 10
_LOGGED_OPTIONS = {"images", "image_detail", "image_positions", "without_images", "mode", "shots"}
"""Names under which the log keeps what is not a field of a request."""
_RESERVED_SETTINGS = {"model", "messages", "n", "stream", "temperature"} | _LOGGED_OPTIONS
"""Fields of a request that other options or grade itself set."""
_WHOLE_NUMBERS = {"max_tokens", "max_completion_tokens", "seed"}
"""Settings that grade itself counts with."""


def _json_object(value: str) -> dict[str, Any]:
    try:
        settings = json.loads(value)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"is not JSON: {error.msg} (column {error.colno})") from None
    assert isinstance(settings, dict)  # it begins with a brace
    return settings


def _name_and_value(part: str) -> tuple[str, Any]:
    name, equals, value = (text.strip() for text in part.partition("="))
    if not equals or not name:
        raise click.BadParameter(f"{part!r} is not NAME=VALUE; a value with commas needs the form of a JSON object")
    if value.lower() == "none":
        return name, None
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


# fmt: off
model_options = options.combine(
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

sampling_options = options.combine(
    click.option("-n", "--samples", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
                 help="Samples per task."),
    click.option("--temperature", callback=_parse_temperature, metavar="T",
                 help="Sampling temperature. Default: as in the benchmark's official runs; `none`: not sent."),
    click.option("--gen-kwargs", multiple=True, callback=_parse_gen_kwargs, metavar="NAME=VALUE,...",
                 help="More fields of each request, such as top_p=0.95,max_tokens=2048,seed=1, or a JSON object. "
                      "`none`: not sent, also if the benchmark's official runs send it."),
)
"""Sampling."""

prompt_options = options.combine(
    click.option("--mode", default="", metavar="MODE", help="HumanEval-V: v2c, v2c-cot, v2t2c or t2c."),
    click.option("--shots", type=click.IntRange(min=0), default=0, metavar="K",
                 help="Mr-Ben: number of demonstrations in the prompt."),
    click.option("--prompt", type=options.PATH, metavar="FILE", help="A jinja2 template that replaces the prompt."),
    click.option("--system", type=options.PATH, metavar="FILE", help="A file with a system message."),
    click.option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="Field `detail` of each image."),
    click.option("--without-images", is_flag=True, help="Send the prompts without their images."),
)
"""The prompt and the images."""

run_options = options.combine(
    options.LIMIT,
    options.date_options,
    options.IDS,
    click.option("--concurrency", type=click.IntRange(min=1, max=1024), default=16, show_default=True, metavar="N",
                 help="Requests at a time."),
    click.option("--request-timeout", type=options.Seconds(min=0.1, max=86400), default=600.0, show_default=True,
                 metavar="S", help="Seconds that an attempt to get a reply may take."),
    click.option("--fresh", is_flag=True, help="Start over; earlier files are kept under other names."),
    click.option("--dry-run", is_flag=True,
                 help="Send nothing; show what would be sent. Neither --model nor -o is needed."),
    click.option("--grade", is_flag=True,
                 help="Then grade the predictions, with the options of the config file."),
)
"""The run."""
# fmt: on


def check(context: click.Context, values: dict[str, Any]) -> None:
    """Raise UsageError for options that cannot be combined, MissingParameter for those that requests need."""
    if not values["dry_run"]:
        for option in context.command.params:
            if option.name in {"model", "output"} and values[option.name] is None:
                raise click.MissingParameter(ctx=context, param=option)
    if values["coder_model"] is not None and values["mode"] != "v2t2c":
        raise UsageError("--coder-model needs --mode v2t2c: only this mode has a second model that writes the code.")


def parse(values: dict[str, Any]) -> InferOptions:
    """Return the library's options for the values of the command's options."""
    from grader.inference.options import InferOptions

    unchanged = {name: value for name, value in values.items() if name in InferOptions.__struct_fields__}
    # Only a dry run can lack the model or the output. Then no log of earlier replies belongs to it, and it reads none.
    has_no_log = values["model"] is None or values["output"] is None
    return InferOptions(
        **unchanged
        | {
            "model": values["model"] or "",
            "output": values["output"] or Path("predictions.json"),
            "fresh": values["fresh"] or has_no_log,
            "gen_kwargs": values["gen_kwargs"] | values["temperature"],
        }
    )
