"""What a score supports: intervals, paired tests, comparison, gate."""
