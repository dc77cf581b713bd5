"""Execute programs against a task's tests; report pass@k."""
