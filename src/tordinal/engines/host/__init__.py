"""Rows on this machine: NumPy, compiled loops and threads."""
