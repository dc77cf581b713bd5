"""pylint, kept alive and made faster."""
