"""The code that runs inside the sandbox. No program and no test can import it: see runner.py."""
