"""Proof that this machine grades right: predictions whose verdict is known, graded as any others are."""
