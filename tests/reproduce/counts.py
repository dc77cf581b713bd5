"""Counts for each wording and each rule of the readings how many published replies it decides: `make counts`.

    python -m tests.reproduce.counts FOLDER [--write]

FOLDER has `published`, `runs` and `mcq_real*` (`replies`). A reply is decided by a line of `place_wordings` or by a
heuristic if it is read differently without it. Lines that match in many replies are tried in some of them, the same
each time. `--write` writes the numbers, of 100,000 replies; otherwise a number under 5 is an error: the line goes, or
names the public report that needs it.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import random
import re
import sys
from collections import Counter, defaultdict
from functools import cached_property
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.scorers import patterns, place_wordings
from grader.scorers.answer.careful import read_answer
from grader.scorers.choice.careful import read_choice
from tests.reproduce.replies import Published, replies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FEWEST, PER = 5, 100_000
PARTS, TRIES = 24, 40
"""Number of parts of the replies, and how often a line or rule is tried in one."""
Key = tuple[str, ...]
_METHODS = ("search", "match", "fullmatch", "finditer", "sub", "split")


def tables() -> dict[str, Any]:
    """Return the patterns that are made of lines, by name; without those of reviews, which are counted apart."""
    found = {name: made for name, made in vars(place_wordings).items() if getattr(made, "lines", None)}
    return {name: made for name, made in found.items() if not name.startswith("FIELDS")}


def keys() -> list[Key]:
    """Return every line (pattern, place, line) and every rule (its name)."""
    lines = [
        (name, place, line) for name, made in tables().items() for place, among in made.lines.items() for line in among
    ]
    return [*lines, *map(_key, patterns.HEURISTICS)]


def _key(one: patterns.Heuristic) -> Key:
    return (f"{one.function.__module__.removeprefix('grader.scorers.')}.{one.function.__qualname__}",)


class Switches:
    """Which lines and rules take part in a reading, and which one is off: it changes them in this process for good."""

    def __init__(self) -> None:
        self.used: set[Key] = set()
        self.records = False
        self.off: Key = ()
        self._patterns = tables()
        for name, made in self._patterns.items():
            self._record(name, made)
        for one in list(patterns.HEURISTICS):
            self._wrap(one)

    def without(self, key: Key) -> None:
        """Switch one line or rule off; `()` none."""
        for name in {self.off[0] if self.off else "", key[0] if key else ""} & self._patterns.keys():
            made = self._patterns[name]
            off = key if key and key[0] == name else ()
            self._compiled[name] = re.compile(_joined(made, off, "(?!)"), made.flags)
        self.off = key

    @cached_property
    def _compiled(self) -> dict[str, re.Pattern[str]]:
        return {name: re.compile(made.pattern, made.flags) for name, made in self._patterns.items()}

    def _record(self, name: str, made: Any) -> None:
        mine = [key for key in keys() if key[0] == name]
        pattern = made.form
        for number, (_, place, line) in enumerate(mine):
            pattern = pattern.replace(f"<{place}>", f"(?:(?P<line{number}>{line})|<{place}>)")
        grouped = re.compile(re.sub(rf"<(?:{'|'.join(made.lines)})>", "(?!)", pattern).replace(")*+", ")*"), made.flags)

        def recording(method: str) -> Callable[..., Any]:
            def call(*args: Any) -> Any:
                if self.records:
                    at = args[1:] if method == "sub" else args
                    for found in grouped.finditer(*at) if method in ("finditer", "sub", "split") else [
                        getattr(grouped, method)(*at)
                    ]:  # fmt: skip
                        said = found.groupdict() if found else {}
                        self.used |= {mine[int(g[4:])] for g, text in said.items() if text is not None}
                return getattr(self._compiled[name], method)(*args)

            return call

        for method in _METHODS:
            setattr(made, method, recording(method))

    def _wrap(self, one: patterns.Heuristic) -> None:
        key = _key(one)

        def call(*args: Any, **named: Any) -> Any:
            if self.off == key:
                return one.when_disabled
            found = one.function(*args, **named)
            if self.records:
                found = list(found) if inspect.isgenerator(found) else found
                if found != one.when_disabled and not (one.when_disabled == () and found == []):
                    self.used.add(key)
            return found

        for holder, name, held in _places_of(one.function):
            made: Any = call
            if isinstance(held, (cached_property, property)):
                made = type(held)(call)
                if isinstance(made, cached_property):
                    made.__set_name__(holder, name)
            setattr(holder, name, made)


def _joined(made: Any, off: Key, instead: str) -> str:
    """Return a pattern with one of its lines replaced."""
    pattern: str = made.form
    for place, lines in made.lines.items():
        kept = [instead if off[1:] == (place, line) else line for line in lines]
        pattern = pattern.replace(f"<{place}>", f"(?:{'|'.join(kept)})")
    return pattern


def _places_of(function: Callable[..., Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield the modules and classes that hold a function, with its name there, and what is held."""
    modules = [module for name, module in sys.modules.items() if name.startswith("grader.scorers")]
    classes = [held for module in modules for held in vars(module).values() if inspect.isclass(held)]
    for holder in dict.fromkeys([*modules, *classes]):
        for name, held in list(vars(holder).items()):
            inner = getattr(held, "func", None) or getattr(held, "fget", None) or held
            if inner is function:
                yield holder, name, held


def _read(one: Published) -> str | None:
    if one.options:
        found = read_choice(one.text, one.options, one.question)
        return found.letter or found.outcome
    return read_answer(one.text, one.question, one.kind).answer


def _counts(part: list[Published]) -> tuple[int, dict[Key, float]]:
    """Return the number of replies of a part, and key -> how many of them it decides."""
    seen: Counter[Key] = Counter()
    decided: dict[Key, list[bool]] = defaultdict(list)
    for one in part:
        _SWITCHES.used, _SWITCHES.records = set(), True
        read = _read(one)
        _SWITCHES.records = False
        for key in sorted(_SWITCHES.used):
            seen[key] += 1
            if len(decided[key]) < TRIES:
                _SWITCHES.without(key)
                decided[key].append(_read(one) != read)
                _SWITCHES.without(())
    return len(part), {key: seen[key] * sum(tried) / len(tried) for key, tried in decided.items()}


_SWITCHES: Switches


def _start() -> None:
    global _SWITCHES  # noqa: PLW0603 - of this process
    _SWITCHES = Switches()


def counted(found: list[Published], processes: int) -> dict[Key, int]:
    """Return every line and rule -> how many of 100,000 replies it decides."""
    random.Random(0).shuffle(found)  # the same order each time
    parts = [found[at::PARTS] for at in range(PARTS)]
    total: Counter[Key] = Counter()
    with Pool(processes, _start) as pool:
        for done, (_, counts) in enumerate(pool.imap(_counts, parts), 1):
            total.update(counts)  # type: ignore[arg-type]
            print(f"\r{done} of {PARTS} parts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {key: round(PER * total[key] / len(found)) for key in keys()}


# --- the numbers in the source ---------------------------------------------------------------------------------------


def numbers_in(path: Path, counts: dict[Key, int]) -> list[tuple[Key, ast.Constant, int]]:
    """Return every line and rule of a source file with the value that stands beside it, and its count."""
    module = ".".join(path.with_suffix("").parts[path.parts.index("scorers") + 1 :])
    tree = ast.parse(path.read_text())
    shared = {
        node.target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Dict)
    }
    found: dict[int, tuple[Key, ast.Constant, int]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            for word in node.value.keywords:
                lines = shared.get(word.value.id) if isinstance(word.value, ast.Name) else word.value
                keys = [key for key in counts if key[:2] == (node.targets[0].id, word.arg)]
                for key, held in zip(keys, lines.values, strict=True) if keys and isinstance(lines, ast.Dict) else ():
                    if isinstance(held, ast.Constant):
                        before = found[id(held)][2] if id(held) in found else 0
                        found[id(held)] = key, held, before + counts[key]
    for node in ast.walk(tree):
        for made in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "heuristic":
                (key,) = [key for key in counts if key[0].startswith(module) and key[0].endswith(f".{node.name}")]
                held = made.keywords[0].value
                assert isinstance(held, ast.Constant)
                found[id(held)] = key, held, counts[key]
    return list(found.values())


def written(path: Path, numbers: list[tuple[Key, ast.Constant, int]]) -> str:
    """Return a source file with other numbers; what has a reason in words keeps it."""
    lines = path.read_text().splitlines(keepends=True)
    for _, held, count in sorted(numbers, key=lambda one: (one[1].lineno, one[1].col_offset), reverse=True):
        if isinstance(held.value, int):
            line = lines[held.lineno - 1].encode()
            lines[held.lineno - 1] = (
                line[: held.col_offset] + str(count).encode() + line[held.end_col_offset :]
            ).decode()
    return "".join(lines)


def main() -> None:
    """Count, print, and write or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    found = list(replies(options.folder))
    if not found:
        raise SystemExit(f"{options.folder}: no replies (it needs the folders published, runs and mcq_real*)")
    print(f"{len(found):,} different replies")
    counts = counted(found, options.processes)
    few = []
    for path in sorted({Path(inspect.getfile(importlib.import_module("grader.scorers"))).parent})[0].rglob("*.py"):
        numbers = numbers_in(path, counts) if "place_wordings" in path.name or "@heuristic(" in path.read_text() else []
        for key, held, count in numbers:
            print(f"{count:7,}  {' '.join(key)[:100]}{'' if isinstance(held.value, int) else f'  ({held.value})'}")
            few += [" ".join(key)[:80]] if isinstance(held.value, int) and count < FEWEST else []
        if numbers and options.write:
            path.write_text(written(path, numbers))
    if few:
        raise SystemExit(f"Under {FEWEST} of {PER:,}, and no report is named: {'; '.join(few)}")


if __name__ == "__main__":
    main()
