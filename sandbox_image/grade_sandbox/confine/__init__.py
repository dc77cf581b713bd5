"""What a process of a program or a test may not do."""
