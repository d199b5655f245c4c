"""Sequential minimal optimisation: hinge and Laplacian loss on a kernel matrix."""

from tordinal.solvers.smo.driver import SMO

__all__ = ["SMO"]
