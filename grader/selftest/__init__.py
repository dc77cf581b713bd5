"""The self-test: predictions with known verdicts show whether this machine grades correctly."""
