"""Checks of published results: some samples of an earlier run are graded again."""
