"""Hostile programs, by what they are after, and the arena in which they meet honest ones."""
