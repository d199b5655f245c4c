"""Solvers whose kernel matrix and vectors are on a GPU."""

from tordinal.solvers.cuda.smo import CudaSMO

__all__ = ["CudaSMO"]
