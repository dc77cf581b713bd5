"""Decisions about reports: comparisons, gates, leaderboards."""
