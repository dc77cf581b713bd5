"""The executors, which run programs: sandboxes, a pool of them, and the cache of verdicts, behind one interface."""
