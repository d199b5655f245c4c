import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # for `problems`

settings.register_profile("tordinal", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("tordinal")

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data():
    """The folder of real data sets, where it lies beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("no data sets beside the checkout")
    return SHARED
