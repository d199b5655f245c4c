"""The command line."""

from tordinal.cli.main import main

__all__ = ["main"]
