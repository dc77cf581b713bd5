"""`grade serve`: a pool over HTTP, for whatever cannot import it."""
