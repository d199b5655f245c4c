from tordinal.cli.main import FigureName, KernelName, LossName
from tordinal.experiments.cells import FIGURES
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES


def test_choices_of_the_command_are_those_of_the_library():
    assert {k.value for k in KernelName} == set(KERNELS) - {"precomputed"}
    assert {k.value for k in LossName} == set(LOSSES)
    assert {k.value for k in FigureName} == {*FIGURES, "claims", "all"}
