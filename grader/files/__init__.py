"""Reading and writing files: JSON with the place of every problem, and writing that is whole or not at all."""
