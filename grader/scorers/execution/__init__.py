"""Programs that are executed against a task's tests: pass@k."""
