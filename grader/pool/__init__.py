"""Grading as a service on one node: a process that keeps sandboxes warm, and `Pool`, its client for any process."""
