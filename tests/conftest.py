import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tordinal.datasets import make_reviews
from tordinal.engines.cuda.device import find_device

sys.path.insert(0, str(Path(__file__).parent))  # for `problems`

settings.register_profile("tordinal", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("tordinal")

SHARED = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items):
    """Skip what needs a GPU where there is none, and say what is missing."""
    on_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if on_gpu:
        try:
            find_device()
        except (ImportError, RuntimeError) as error:
            for item in on_gpu:
                item.add_marker(pytest.mark.skip(reason=str(error).partition(". ")[0]))


@pytest.fixture
def shared_data():
    """The folder of real data sets, where it lies beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("no data sets beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def amazon_home(tmp_path_factory):
    """Amazon-like files, small."""
    folder = tmp_path_factory.mktemp("data")
    for domain in ("books", "dvd"):
        (folder / "amazon" / domain).mkdir(parents=True)
        texts, stars = make_reviews(800, random_state=len(domain))
        for name, chosen in (("positive", stars > 3), ("negative", stars < 3)):
            reviews = [
                f"<review>\n<rating>\n{s}.0\n</rating>\n<title>\nx\n</title>\n<review_text>\n{t}\n</review_text>\n</review>\n"
                for t, s, c in zip(texts, stars, chosen, strict=True) if c
            ]  # fmt: skip
            (folder / "amazon" / domain / f"{name}.review").write_text(
                "<reviews>\n" + "".join(reviews) + "</reviews>\n"
            )
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A folder with a random BERT of two layers and 16 dimensions."""
    pytest.importorskip("sentence_transformers", reason="needs torch and sentence-transformers")
    from tiny_encoder import make_tiny_encoder

    return make_tiny_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def client():
    """Two workers of a cluster, as threads of this process."""
    from clusters import start
    from distributed import Client

    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """Three workers of a cluster, as processes that can be killed."""
    from clusters import start
    from distributed import Client

    with start(3, processes=True) as cluster, Client(cluster) as client:
        yield client
