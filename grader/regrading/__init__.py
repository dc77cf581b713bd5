"""Samples of an earlier run, graded again: second opinions, checks of published results, limits on trial."""
