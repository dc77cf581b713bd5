"""Reading and writing files: JSON with the position of every problem, and atomic writing."""
