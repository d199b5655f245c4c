import pytest
from clusters import start
from distributed import Client


@pytest.fixture(scope="module")
def client():
    """Two workers, as threads of this process."""
    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """Three workers, as processes that can be killed."""
    with start(3, processes=True) as cluster, Client(cluster) as client:
        yield client
