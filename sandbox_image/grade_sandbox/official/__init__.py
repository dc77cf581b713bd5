"""The official run: program and tests in one process, as published."""
