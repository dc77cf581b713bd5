"""One folder a scorer: all that it knows of its benchmarks, from rows and predictions to samples and metrics."""
