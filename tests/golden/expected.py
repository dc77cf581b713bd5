"""The `expected.json` of the bundled samples: writes the outcomes that this machine gives, for somebody to check.

    make expected [ONLY=word]

Everything else in the files is worked out by hand, and kept. The official outcomes of programs are kept if the sandbox
has another Python than the protocol. Read the diff: each changed outcome is a changed promise.
"""

import json
import sys
from pathlib import Path
from typing import Any

from grader import selftest
from grader.observer import Silent
from grader.options import Options
from grader.scorers import declarations

LONGEST = 110
"""Characters of a mapping on one line."""


def renewed(benchmark: str) -> Path:
    """Write the outcomes of a benchmark's sample; return the file."""
    declared = declarations.load(benchmark)
    report = selftest.grade_sample(declared, Options(benchmark=benchmark, sandbox="bubblewrap", cache=False), Silent())
    path = selftest.sample_folder(declared) / "expected.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    outcomes = kept.pop("outcomes", {}) | selftest.outcomes(report)
    kept = {"protocol": report.protocol, "outcomes": outcomes} | kept
    path.write_text(written(kept) + "\n", encoding="utf-8")
    return path


def written(value: Any, depth: int = 1) -> str:
    """Return JSON with one line for each innermost list or short mapping."""
    line = json.dumps(value, ensure_ascii=False)
    inner = value.values() if isinstance(value, dict) else ()
    if not any(isinstance(each, dict | list) for each in inner) and (len(line) <= LONGEST or not inner):
        return line
    lines = [f"{' ' * depth}{json.dumps(name)}: {written(each, depth + 1)}" for name, each in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * (depth - 1) + "}"


def main(only: str = "") -> None:
    """Renew the files of the benchmarks whose name has the word."""
    for benchmark in declarations.names():
        if only in benchmark:
            print(renewed(benchmark).relative_to(Path.cwd()))


if __name__ == "__main__":
    main(*sys.argv[1:])
