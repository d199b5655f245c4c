import numpy as np
import pytest

WORDS = ["good", "fine", "bad", "story", "plot", "the", "a", "book", "film", "very"]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A folder with a random BERT of two layers and 16 dimensions."""
    pytest.importorskip("sentence_transformers", reason="needs torch and sentence-transformers")
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)  # more of them wait for each other where tests run side by side
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertModel(
            BertConfig(
                vocab_size=5 + len(WORDS), hidden_size=16, num_hidden_layers=2,
                num_attention_heads=2, intermediate_size=32, max_position_embeddings=64,
            )
        )  # fmt: skip
    model.save_pretrained(folder)
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def rated():
    """48 texts with a rating in each, and ranks of which the second half is hidden."""
    rng = np.random.default_rng(0)
    true = np.arange(48) % 3
    texts = [" ".join([*rng.choice(WORDS[3:], 4), *[("bad", "fine", "good")[k]] * 2]) for k in true]
    return texts, true, np.where(np.arange(48) < 24, true, -1)
