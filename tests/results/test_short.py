"""The repr of a report is short whatever a run holds."""

import msgspec

from tests.made_runs import choice


def test_a_repr_counts_what_a_run_holds_and_nothing_in_it_acts_on_a_terminal() -> None:
    assert "5,000 samples, 0 unscored>" in repr(choice([True] * 5_000))
    assert "1 sample, " in repr(choice([True]))
    named = repr(msgspec.structs.replace(choice([True]), benchmark="\x1b[2J"))
    assert (named[:8], "\x1b" in named) == ("<Report ", False)
