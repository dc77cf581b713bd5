"""Python source is parsed by any number of threads."""

import gc
import sys
import threading

from grader.files.python_source import literal_from, tree_from
from grader.scorers.execution.code_spans import Budget, code_spans
from tests.conftest import ROOT


class Forgotten:
    """Garbage whose end lets another thread go on, also while a tree is built."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(3):
            pass


def test_threads_that_parse_at_the_same_time_all_get_their_trees() -> None:
    """Without turns, CPython 3.11 raised a SystemError in half of these, and a sample of a pool was unscored."""
    source = (ROOT / "grader" / "options.py").read_text()
    problems: list[BaseException] = []
    before = sys.getswitchinterval(), gc.get_threshold()

    def parse() -> None:
        try:
            for _ in range(30):
                Forgotten()
                tree_from(source)
                literal_from("[1, [2, [3]]]")
                assert [*code_spans(source, Budget())]
        except BaseException as error:
            problems.append(error)

    sys.setswitchinterval(1e-5)
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=parse) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before[0])
        gc.set_threshold(*before[1])
    assert problems == []
