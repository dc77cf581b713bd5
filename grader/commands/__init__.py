"""What the command's words do, a file a kind of word; with `cli.py` the only place that prints."""
