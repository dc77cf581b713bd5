"""One file a kind of scoring: from tasks and predictions to samples and metrics."""
