"""Multiple-choice questions, one pass or circular: accuracy."""
