"""One folder per scorer. It holds all code for its benchmarks, from rows and predictions to samples and metrics."""
