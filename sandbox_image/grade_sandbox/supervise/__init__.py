"""What watches the processes of programs and tests, from outside of them."""
