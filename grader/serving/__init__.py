"""`grade serve`: a pool over HTTP, for clients that cannot import it."""
