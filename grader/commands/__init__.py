"""The subcommands of `grade`, one file per group. Only they and `cli.py` print."""
