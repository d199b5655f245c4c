"""``python -m tordinal``: the command line."""

from tordinal.cli import main

if __name__ == "__main__":
    main()
