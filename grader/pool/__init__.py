"""Grading as a service of one node: a process that keeps sandboxes warm, and `Pool`, which any process asks."""
