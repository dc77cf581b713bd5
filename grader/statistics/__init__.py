"""Intervals, paired tests and corrections: numbers in, numbers out. Nothing here knows a report or a scorer."""
