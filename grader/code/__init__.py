"""From a model's text to the program that runs, and from verdicts to pass@k."""
