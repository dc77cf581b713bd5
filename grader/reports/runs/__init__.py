"""Documents of several runs: a comparison and a leaderboard."""
