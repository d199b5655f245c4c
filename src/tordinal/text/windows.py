"""Texts as windows of tokens, and windows as embeddings."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.text.pretrained import own_random_state

__all__ = ["KeptWindows", "Windows", "embed", "out_of_memory", "place_windows"]

LONGEST = 20_000  # characters of a text that are read
TOKENS_AT_ONCE = {"cpu": 4096, "mps": 16_384, "cuda": 131_072}  # of a batch without gradients
TEXTS_AT_ONCE = 4096  # whose tokens are in memory, and which are sorted by length together
TEXTS_KEPT = 5_000  # whose windows are kept while an encoder is tuned: 100 MB at most

Window = list[int]
Array = NDArray[np.float64]


def place_windows(n_tokens: int, length: int, max_windows: int) -> list[tuple[int, int]]:
    """Place windows over a text: as few as hold it, of equal length, or spread evenly over it.

    Examples
    --------
    >>> place_windows(130, 126, 4)
    [(0, 65), (65, 130)]
    >>> place_windows(1000, 126, 2)
    [(0, 126), (874, 1000)]
    >>> place_windows(0, 126, 4)
    [(0, 0)]
    """
    n = min(max_windows, max(1, -(-n_tokens // length)))
    length = min(length, -(-n_tokens // n))
    starts = np.linspace(0, n_tokens - length, n).round().astype(int).tolist()
    return [(start, start + length) for start in starts]


class Windows:
    """Cuts texts into windows of tokens, each with the special tokens of the model.

    Parameters
    ----------
    model : SentenceTransformer
        The model.
    length : int
        Tokens of a window at most, with the special ones.
    max_windows : int
        Windows of a text at most.
    """

    def __init__(self, model: Any, length: int, max_windows: int):
        self.tokenizer, self.max_windows = model.tokenizer, max_windows
        whole, bare = (
            self.tokenizer("a", add_special_tokens=special)["input_ids"]
            for special in (True, False)
        )
        start = next(
            i for i in range(len(whole)) if whole[i : i + len(bare)] == bare
        )  # where the text begins between the special tokens
        self.before, self.after = whole[:start], whole[start + len(bare) :]
        known = model.max_seq_length
        self.length = min(length, known or length) - len(self.before) - len(self.after)
        if self.length < 1:
            raise ValueError(f"window={length} leaves no room for text beside the special tokens")

    def __call__(self, texts: Sequence[str]) -> list[list[Window]]:
        """Cut each text; one without a token has one window with the special tokens alone."""
        if not len(texts):
            return []
        tokens = self.tokenizer(
            [text[:LONGEST] for text in texts], add_special_tokens=False, truncation=False,
            return_attention_mask=False, return_token_type_ids=False, verbose=False,
        )["input_ids"]  # fmt: skip
        return [
            [
                [*self.before, *ids[a:b], *self.after]
                for a, b in place_windows(len(ids), self.length, self.max_windows)
            ]
            for ids in tokens
        ]


class KeptWindows:
    """Cuts texts that are read again and again only once.

    Parameters
    ----------
    cut : Windows
        Cuts texts into windows.
    """

    def __init__(self, cut: Windows):
        self.cut = cut
        self.kept: dict[str, list[Window]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[Window]]:
        """Cut each text that is not known yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        found = dict(zip(new, self.cut(new), strict=True))
        windows = [found[text] if text in found else self.kept[text] for text in texts]
        self.kept |= dict(islice(found.items(), TEXTS_KEPT - len(self.kept)))
        return windows


def forward(model: Any, windows: Sequence[Window]) -> Any:
    """Embed windows as one batch: a tensor with a row of unit length for each."""
    import torch

    batch = {
        name: torch.from_numpy(array).to(model.device)
        for name, array in pad(model.tokenizer, windows).items()
    }
    return torch.nn.functional.normalize(model(batch)["sentence_embedding"], dim=1)


def pad(tokenizer: Any, windows: Sequence[Window]) -> dict[str, NDArray[np.int64]]:
    """Pad windows to one length. `tokenizer.pad` takes ten times as long, token by token."""
    sizes = np.array([len(window) for window in windows])
    place = np.arange(sizes.max())
    mask = place < sizes[:, None]
    if tokenizer.padding_side == "left":
        mask = mask[:, ::-1]
    ids = np.full(mask.shape, tokenizer.pad_token_id or 0)
    ids[mask] = np.concatenate(windows)
    return {"input_ids": ids, "attention_mask": mask.astype(np.int64)}


def embed(
    model: Any,
    cut: Windows | KeptWindows,
    texts: Sequence[str],
    on_texts: Callable[[int], None] | None = None,
) -> Array:
    """Embed texts: the mean of a text's windows, scaled to unit length.

    Parameters
    ----------
    model : SentenceTransformer
        The model.
    cut : Windows or KeptWindows
        Cuts texts into windows.
    texts : sequence of str
        Texts.
    on_texts : callable, optional
        Called with the number of texts that have been embedded since the last call.

    Returns
    -------
    X : ndarray of shape (n_texts, n_dimensions)
        The embeddings.
    """
    import torch

    parts = []
    tokens_at_once = TOKENS_AT_ONCE.get(model.device.type, TOKENS_AT_ONCE["cpu"])
    model.eval()
    with torch.inference_mode(), own_random_state(0):
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            some = cut(texts[first : first + TEXTS_AT_ONCE])
            owner = np.repeat(np.arange(len(some)), [len(windows) for windows in some])
            windows = [window for of_text in some for window in of_text]
            sizes = np.array([len(window) for window in windows])
            order = np.argsort(-sizes, kind="stable")  # the largest batch first: memory shows early
            rows: Any = None
            reported = done = 0
            while done < len(order):
                n = max(1, tokens_at_once // int(sizes[order[done]]))
                chosen = order[done : done + n]
                vectors = _forward_if_it_fits(model, [windows[i] for i in chosen])
                if vectors is None:
                    if len(chosen) == 1:
                        raise MemoryError(
                            f"{model.device} has no memory for a single window of "
                            f"{sizes[chosen[0]]} tokens. Free memory, or pass device='cpu'."
                        )
                    tokens_at_once = len(chosen) // 2 * int(sizes[order[done]])
                    continue
                vectors = vectors.double().cpu().numpy()
                rows = np.zeros((len(windows), vectors.shape[1])) if rows is None else rows
                rows[chosen] = vectors
                done += len(chosen)
                if on_texts is not None:
                    finished = len(some) * done // len(order)
                    on_texts(finished - reported)
                    reported = finished
            sums = np.zeros((len(some), rows.shape[1]))
            np.add.at(sums, owner, rows)
            norms = np.linalg.norm(sums, axis=1, keepdims=True)
            parts.append(sums / np.where(norms > 0.0, norms, 1.0))
    n_dimensions = model.get_embedding_dimension()
    return np.concatenate(parts) if parts else np.zeros((0, n_dimensions))


def _forward_if_it_fits(model: Any, windows: Sequence[Window]) -> Any:
    """Embed windows as one batch, or return None if memory runs out."""
    try:
        return forward(model, windows)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
    # Outside of the except block, where the error no longer holds the tensors.
    free_memory()
    return None


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that a device has run out of memory."""
    import torch

    return (
        isinstance(error, (torch.OutOfMemoryError, MemoryError))
        or "out of memory" in str(error)
        or "not enough memory" in str(error)
    )


def free_memory() -> None:
    """Give unused memory back to the device."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def batches(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Shuffle n rows and deal them into batches of nearly equal size, at most `size`.

    Examples
    --------
    >>> [len(batch) for batch in batches(100, 32, np.random.default_rng(0))]
    [25, 25, 25, 25]
    """
    yield from np.array_split(rng.permutation(n), -(-n // size))
