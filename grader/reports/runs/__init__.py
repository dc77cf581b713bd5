"""Documents of several runs: a comparison, a history, a leaderboard, the readings of a file, several graded files."""
