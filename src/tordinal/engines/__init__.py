"""Where it runs: on this machine, a GPU or a cluster, behind a narrow interface."""
