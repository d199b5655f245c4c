"""A sentence encoder made on the spot: a random BERT of two layers and 16 dimensions."""

WORDS = ["good", "fine", "bad", "story", "plot", "the", "a", "book", "film", "very"]


def make_tiny_encoder(folder, seed=0):
    """Save a tiny encoder in a new folder, and return the folder."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)  # more of them wait for each other where tests run side by side
    folder.mkdir()
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(
            BertConfig(
                vocab_size=5 + len(WORDS), hidden_size=16, num_hidden_layers=2,
                num_attention_heads=2, intermediate_size=32, max_position_embeddings=64,
            )
        )  # fmt: skip
    model.save_pretrained(folder)
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return folder
