from typing import get_type_hints

import numpy as np
import pytest

from tordinal.engines.base import KernelMatrix, PseudoLabels, RowBlocks, Samples
from tordinal.engines.dask.parts import PartRows
from tordinal.engines.dask.pseudo_labels import ClusterLabels
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.engines.host.rows import linear_rows
from tordinal.kernels import RBF


@pytest.mark.parametrize("kind", [HostLabels, ClusterLabels])
def test_every_engine_has_what_the_protocol_names(kind):
    methods = [name for name in vars(PseudoLabels) if not name.startswith("_")]
    assert set(methods) >= {"assign", "swap", "gain", "undo", "greatest_losses"}
    for name in methods:
        hints = get_type_hints(getattr(kind, name))
        assert hints == get_type_hints(getattr(PseudoLabels, name))


@pytest.mark.parametrize(
    ("protocol", "provided"),
    [
        (Samples, linear_rows(np.eye(3))),
        (KernelMatrix, Gram(RBF(), np.eye(3), 1.0)),
        (RowBlocks, PartRows(None, "all", 3, 1.0, True)),
    ],
)
def test_training_data_has_what_solvers_ask_for(protocol, provided):
    names = {
        name
        for kind in protocol.__mro__
        for name in {**vars(kind), **vars(kind).get("__annotations__", {})}
        if not name.startswith("_")
    }
    assert len(names) >= 3
    assert [name for name in names if not hasattr(provided, name)] == []
