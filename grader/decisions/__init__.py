"""Statistics and decisions: intervals, paired tests, comparisons, gates."""
