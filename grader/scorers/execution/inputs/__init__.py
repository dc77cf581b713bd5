"""Tasks with inputs in the data: each input is a call of the program, and its answer is compared with an output."""
