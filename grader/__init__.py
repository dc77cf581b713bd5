"""Turns a file of model outputs into scores that can be trusted."""

__version__ = "0.1.0"
