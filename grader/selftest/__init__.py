"""The self-test: predictions with known verdicts, graded like any others, show whether this machine grades correctly."""
