"""Prediction files: read, checked, and recognised in foreign formats."""
