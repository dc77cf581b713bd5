"""The scorer `answer`: a number, a text, or yes or no."""
