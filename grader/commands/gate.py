"""`grade gate`: decide a policy's gates over the results of several benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import gates, github, options, output_files
from grader.commands.options import NAMED_FILE, NamedFile
from grader.errors import UsageError
from grader.files.user_files import real_path

if TYPE_CHECKING:
    from grader.decisions.policy import ReportOfFile

EXIT_CODES = (
    "Exit codes: 0 = every gate is met; 1 = a gate is not met; 2 = bad policy or files; 3 = a gate is blocked; "
    "4 = a gate is inconclusive. Of several, the first of 2, 3, 1, 4."
)


@click.command("gate", short_help="Decide the gates of a policy over several benchmarks.", epilog=EXIT_CODES)
@click.argument("policy", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="POLICY")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="RESULTS...")
@click.option("--baseline", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
              help="Folder with the _results.json files of an earlier checkpoint, for max_drop.")  # fmt: skip
@options.report_option("Also write the decisions")
@click.option("-q", "--quiet", is_flag=True, help="A line a gate, without the table.")
def gate_command(
    policy: Path, runs: tuple[NamedFile, ...], *, baseline: Path | None, outputs: tuple[str, ...], quiet: bool
) -> int:
    """Decide the gates in POLICY (a TOML file) over RESULTS, the `_results.json` files of one checkpoint.

    All gates are decided together: the chance that one of them fails a checkpoint that should meet them all is at most
    5 %.
    """
    from grader.decisions.policy import decide, read_baselines, read_policy
    from grader.reports.views import gates as view

    gate_policy = read_policy(policy)
    baselines = None if baseline is None else read_baselines(baseline)
    candidates: list[ReportOfFile] = [(run.results, report) for run, report in options.read_runs(runs)]
    output_files.check_outputs(outputs, [policy, *(Path(name) for name, _ in [*candidates, *(baselines or [])])])
    _refuse_common_files(candidates, baselines or [])
    decisions = decide(gate_policy, policy.name, candidates, baselines)
    document = view.document(decisions)
    output_files.emit(document, outputs, quiet=quiet)
    github.append_step_summary(lambda: document)
    gates.announce(decisions.gates, has_table=not quiet)
    return decisions.exit_code


def _refuse_common_files(candidates: list[ReportOfFile], baselines: list[ReportOfFile]) -> None:
    """Raise UsageError for a file that is a candidate and in the baseline: compared with itself it never drops."""
    baseline_paths = {real_path(Path(name)) for name, _ in baselines}
    for name, _ in candidates:
        if real_path(Path(name)) in baseline_paths:
            raise UsageError(f"{name} is also in the folder of the baseline. Keep the baseline in a folder of its own.")
