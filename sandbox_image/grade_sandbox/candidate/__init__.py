"""What runs in the process of a candidate whose careful verdict is open. Imports nothing from `tests`."""
