"""Newton's method: one driver, and two spaces to work in, of features and of a kernel."""

from tordinal.solvers.newton.features import FeatureDescent, Newton
from tordinal.solvers.newton.kernel import KernelNewton

__all__ = ["FeatureDescent", "KernelNewton", "Newton"]
