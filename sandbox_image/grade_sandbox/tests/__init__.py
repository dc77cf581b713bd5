"""What runs in the processes of the tests: recording, replay, and tests beside a living candidate."""
