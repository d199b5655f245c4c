from typing import get_type_hints

import pytest

from tordinal.engines.base import PseudoLabels
from tordinal.engines.dask.pseudo_labels import ClusterLabels
from tordinal.engines.host.pseudo_labels import HostLabels


@pytest.mark.parametrize("kind", [HostLabels, ClusterLabels])
def test_every_engine_has_what_the_protocol_names(kind):
    methods = [name for name in vars(PseudoLabels) if not name.startswith("_")]
    assert set(methods) >= {"assign", "swap", "gain", "undo", "greatest_losses"}
    for name in methods:
        hints = get_type_hints(getattr(kind, name))
        assert hints == get_type_hints(getattr(PseudoLabels, name))
