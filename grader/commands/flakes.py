"""`grade flakes`: how often verdicts changed on this machine when samples were graded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files

if TYPE_CHECKING:
    from grader.selftest.ledger import Check, Rate

SHOWN = 20


@click.command("flakes", short_help="Show verdicts that changed when samples were graded again.")
@click.option(
    "-o", "--output", type=options.FILE, metavar="FILE", help="Also write every check as JSON here, or to `-`."
)
def flakes_command(output: str | None) -> None:
    """Show the verdicts that changed when samples were graded again on this machine.

    The checks come from `grade PREDICTIONS --second-opinion` and `grade selftest --repeat N`.
    """
    from grader.selftest import ledger

    output_files.check_places([] if output is None else [output], [])
    checks = list(ledger.read())
    for line in _lines(checks) if output != "-" else ():
        click.echo(line)
    if output is not None:
        import msgspec

        output_files.put_all([(output, msgspec.json.format(msgspec.json.encode(checks)) + b"\n")], quiet=False)


def _lines(checks: list[Check]) -> list[str]:
    from grader.reports.text import clean
    from grader.selftest import ledger

    if not checks:
        return [
            "No verdict has been checked a second time yet. "
            "Run grade PREDICTIONS --second-opinion, or grade selftest --repeat 2."
        ]
    lines = []
    for benchmark in dict.fromkeys(check.benchmark for check in checks):
        own = [check for check in checks if check.benchmark == benchmark]
        lines.append(f"{benchmark}: {_rate(ledger.rate(own))}")
        tasks = ledger.by_task(own)
        lines += [f"  {qid}: {_rate(found)}" for qid, found in list(tasks.items())[:SHOWN]]
        lines += [f"  ... {len(tasks) - SHOWN} more tasks"] if len(tasks) > SHOWN else []
    recent = [(check, flake) for check in checks for flake in check.flakes][-SHOWN:]
    for check, flake in recent:
        where = " then ".join(dict.fromkeys(check.sandboxes))
        lines.append(
            f"{check.at[:16].replace('T', ' ')} {flake.qid} #{flake.sample} {flake.reading}: "
            f"{' -> '.join(flake.verdicts)}; program {flake.program}; {where}; load {check.load:g}; {check.source}"
        )
    return [clean(line) for line in lines]


def _rate(found: Rate) -> str:
    from grader.reports.selftested import bound_in_words

    return f"{found.flips} of {found.checked} verdicts changed, so at most {bound_in_words(found.bound)}"
