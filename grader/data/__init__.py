"""A benchmark's data: download, loading and checks."""
