"""scikit-learn estimators, one file each."""

from tordinal.estimators._calibrator import Calibrator, Evidence
from tordinal.estimators.mtsvm import MTSVM
from tordinal.estimators.redsvm import REDSVM
from tordinal.estimators.svor import SVOR
from tordinal.estimators.tor import TOR
from tordinal.estimators.torcv import TORCV

__all__ = ["MTSVM", "REDSVM", "SVOR", "TOR", "TORCV", "Calibrator", "Evidence"]
