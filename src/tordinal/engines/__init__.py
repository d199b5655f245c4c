"""Where it runs: rows and kernel values on this machine, behind a narrow interface."""
