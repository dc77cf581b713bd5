"""What intervals, tests, gates and leaderboards promise: a few runs of all that `make bench-statistics` simulates."""

import pytest

from tests.bench.simulations import cells, shown, simulate

pytestmark = pytest.mark.slow
RUNS = 40
SECTIONS = sorted({cell.section for cell in cells()})


@pytest.mark.parametrize("section", SECTIONS)
def test_it_is_kept_in_every_cell(section: str) -> None:
    wanted = [cell for cell in cells() if cell.section == section]
    assert [cell.name for cell in wanted if not shown(cell, simulate(cell, RUNS, seed=0), RUNS)[1]] == []
