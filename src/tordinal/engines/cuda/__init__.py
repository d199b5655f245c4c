"""Where it runs: a GPU, by way of CuPy. Nothing here imports CuPy before it is asked for."""
