"""Tuning of an encoder: ratings as distances between embeddings, and pseudo-labelled texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks
from tordinal.swapping import initial_labels
from tordinal.text.pretrained import own_random_state
from tordinal.text.windows import Window, batches, forward, free_memory, out_of_memory

__all__ = ["PseudoLabeled", "Schedule", "boundary_weights", "pair_loss", "tune"]

Array = NDArray[np.float64]

WARM_UP = 0.1  # share of the steps in which the learning rate rises
MOST_GRADIENT = 1.0  # norm to which a larger gradient is scaled, as in sentence-transformers


@dataclass(frozen=True)
class Schedule:
    """How long and how fast an encoder is tuned, and how much of it.

    Attributes
    ----------
    epochs : int
        How often each labelled text is seen.
    batch_size : int
        Labelled texts in a batch at most.
    learning_rate : float
        Largest step of AdamW.
    n_layers : int or None
        How many layers are tuned, from the top; None for all and the embeddings of tokens.
    """

    epochs: int = 20
    batch_size: int = 32
    learning_rate: float = 5e-5
    n_layers: int | None = None


@dataclass(frozen=True)
class PseudoLabeled:
    """Windows of unlabelled texts with pseudo-labels, and the weight of each text."""

    windows: Sequence[list[Window]]
    y: Ranks
    weight: Array


def boundary_weights(h: Array, counts: NDArray[np.int64]) -> tuple[Ranks, Array]:
    """Assign pseudo-labels by Algorithm 2, with weights that fall towards the class boundaries.

    In the order of h each class is an interval. A text's weight is its distance to the nearest
    boundary of its interval with another class, counted in texts, divided by the largest such
    distance in the interval.

    Examples
    --------
    >>> import numpy as np
    >>> y, weight = boundary_weights(np.arange(6.0), np.array([2, 4]))
    >>> y
    array([0, 0, 1, 1, 1, 1])
    >>> weight.round(2)
    array([1.  , 0.33, 0.14, 0.43, 0.71, 1.  ])
    """
    y = initial_labels(h, counts)
    order = np.argsort(h, kind="stable")
    weight = np.ones(len(h))
    ends = np.cumsum(counts)
    for start, end in zip(ends - counts, ends, strict=True):
        if start == end:
            continue
        place = np.arange(start, end) + 0.5
        to_lower = place - start if start > 0 else np.inf
        to_upper = end - place if end < len(h) else np.inf
        distance = np.minimum(np.broadcast_to(to_lower, place.shape), to_upper)
        if np.isfinite(distance).all():
            weight[order[start:end]] = distance / distance.max()
    return y, weight


def pair_loss(E: Any, y: Any, weight: Any, n_classes: int) -> Any:
    """Squared error of cosine similarities as predictions of 1 - |y_i - y_j| / (K - 1).

    All pairs of the batch count, by the product of their weights. Pairs of equal class and pairs
    of different classes have half of the total weight each.

    Parameters
    ----------
    E : tensor of shape (n, n_dimensions)
        Embeddings of unit length.
    y : tensor of shape (n,)
        Ranks, from 0.
    weight : tensor of shape (n,)
        Weights of the rows.
    n_classes : int
        K.

    Returns
    -------
    loss : tensor
        The loss.
    """
    import torch

    i, j = torch.triu_indices(len(E), len(E), 1, device=E.device)
    apart = (y[i] - y[j]).abs()
    squared = ((E @ E.T)[i, j] - (1.0 - apart / (n_classes - 1))) ** 2
    share = weight[i] * weight[j]
    sums = []
    for chosen in (apart == 0, apart > 0):
        total = (share * chosen).sum()
        sums.append((share * chosen * squared).sum() / total.clamp_min(1e-12))
    return 0.5 * (sums[0] + sums[1])


def tune(
    model: Any,
    windows: Sequence[list[Window]],
    y: Ranks,
    n_classes: int,
    schedule: Schedule,
    seed: int,
    pseudo: PseudoLabeled | None = None,
    on_texts: Callable[[int], None] | None = None,
) -> None:
    """Tune an encoder in place, so that texts of near ratings have near embeddings.

    Parameters
    ----------
    model : SentenceTransformer
        The encoder.
    windows : sequence of list of windows
        Windows of the labelled texts; each step takes one of each text by chance.
    y : ndarray of shape (n_labelled,)
        Their ranks, from 0.
    n_classes : int
        K.
    schedule : Schedule
        How long and how fast.
    seed : int
        Seed of batches, windows and dropout.
    pseudo : PseudoLabeled, optional
        Each batch gets as many of these texts as it has labelled ones.
    on_texts : callable, optional
        Called with the number of texts of each step.
    """
    import torch

    rng = np.random.default_rng(seed)
    n_steps = schedule.epochs * -(-len(y) // schedule.batch_size)
    warm_up = max(1, round(WARM_UP * n_steps))
    parameters = _tuned_parameters(model, schedule.n_layers)
    optimizer = torch.optim.AdamW(parameters, lr=schedule.learning_rate)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm_up, (n_steps - step) / max(1, n_steps - warm_up)),
    )
    size = 2 * schedule.batch_size  # of the parts in which the model computes
    at_hand = np.empty(0, dtype=np.int64)
    with own_random_state(seed):
        model.train()
        try:
            for _ in range(schedule.epochs):
                for rows in batches(len(y), schedule.batch_size, rng):
                    chosen = [windows[i] for i in rows]
                    ranks, weight = y[rows], np.ones(len(rows))
                    if pseudo is not None:
                        while len(at_hand) < len(rows):
                            at_hand = np.append(at_hand, rng.permutation(len(pseudo.y)))
                        extra, at_hand = at_hand[: len(rows)], at_hand[len(rows) :]
                        chosen += [pseudo.windows[i] for i in extra]
                        ranks = np.append(ranks, pseudo.y[extra])
                        weight = np.append(weight, pseudo.weight[extra])
                    batch = [of_text[rng.integers(len(of_text))] for of_text in chosen]
                    step_seed = int(rng.integers(2**31))
                    size = _backward(model, batch, ranks, weight, n_classes, step_seed, size)
                    torch.nn.utils.clip_grad_norm_(parameters, MOST_GRADIENT)
                    optimizer.step()
                    optimizer.zero_grad()
                    rate.step()
                    if on_texts is not None:
                        on_texts(len(batch))
        finally:
            model.eval()
            model.requires_grad_(True).zero_grad()


def _backward(
    model: Any, batch: list[Window], y: Ranks, weight: Array, n_classes: int, seed: int, size: int
) -> int:
    """Add the gradient of a batch, in parts of at most `size` texts; return the size that fits.

    The loss is of all pairs, so parts need two passes: embeddings without gradients, the loss's
    gradient in the embeddings, and from there the parts again, with the same dropout (Gao et al.
    2021).
    """
    import torch

    y_, weight_ = (
        torch.as_tensor(np.asarray(values, dtype=np.float32), device=model.device)
        for values in (y, weight)
    )
    while True:
        try:
            parts = [batch[i : i + size] for i in range(0, len(batch), size)]
            if len(parts) == 1:
                torch.manual_seed(seed)
                pair_loss(forward(model, batch), y_, weight_, n_classes).backward()
                return size
            found = []
            with torch.no_grad():
                for i, part in enumerate(parts):
                    torch.manual_seed(seed + i)
                    found.append(forward(model, part))
            E = torch.cat(found).requires_grad_()
            pair_loss(E, y_, weight_, n_classes).backward()
            for i, (part, gradient) in enumerate(zip(parts, E.grad.split(size), strict=True)):
                torch.manual_seed(seed + i)
                forward(model, part).backward(gradient)
            return size
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
        if size == 1:
            raise MemoryError(
                f"{model.device} has no memory to tune the encoder on a single text. Free memory, "
                "choose a smaller encoder, or pass device='cpu'."
            )
        size = -(-min(size, len(batch)) // 2)
        model.zero_grad()
        free_memory()


def _tuned_parameters(model: Any, n_layers: int | None) -> list[Any]:
    """Return the parameters to tune, and switch off the gradients of the others."""
    import torch

    if n_layers is not None:
        stacks = [part for part in model.modules() if isinstance(part, torch.nn.ModuleList)]
        layers = max(stacks, key=len, default=())
        if len(layers) < n_layers:
            raise ValueError(
                f"n_layers={n_layers} is more than the {len(layers)} layers of the encoder. Pass a "
                "smaller number, or None for all of it."
            )
        model.requires_grad_(False)
        for layer in layers[len(layers) - n_layers :]:
            layer.requires_grad_(True)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
