"""A benchmark's data: fetched, loaded, checked."""
