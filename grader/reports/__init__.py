"""One file a format: `Report -> text`."""
