import sys
from pathlib import Path

import pytest
from clusters import start
from distributed import Client

sys.path.insert(0, str(Path(__file__).parent))  # for `conformance`


@pytest.fixture(scope="module")
def client():
    """Two workers, as threads of this process."""
    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield client
