"""The texts of a table by a sentence encoder: tuned by the ratings, or as it comes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tordinal.progress import Listener
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.settings import Settings
from tordinal.tables.target import Target
from tordinal.tables.values import TableError

if TYPE_CHECKING:
    from tordinal.text import SentenceEncoder

__all__ = ["SentenceFeatures", "find_encoder", "read_sentences"]

Array = NDArray[np.float64]


@dataclass
class SentenceFeatures:
    """The features that a sentence encoder makes of texts, and how to encode new ones.

    Attributes
    ----------
    name : str
        The model of sentence-transformers: its folder, or its name in the cache.
    tuned : bool
        Whether it was tuned: then a text is one number, its projection, else its embedding.
    n_features : int
        Numbers per text.
    weights : str
        Fingerprint of the pretrained weights.
    content : bytes or None
        The tuned encoder, as `SentenceEncoder.to_bytes` makes it.
    """

    name: str
    tuned: bool
    n_features: int
    weights: str
    content: bytes | None = None

    def transform(self, texts: list[str]) -> Array:
        """Encode new texts.

        Parameters
        ----------
        texts : list of str
            Texts.

        Returns
        -------
        X : ndarray of shape (n_texts, n_features)
            Projections, or embeddings.
        """
        if not texts:
            return np.empty((0, self.n_features))
        X = self._encoder().transform(texts)
        if X.shape[1] != self.n_features:
            raise TableError(f"the sentence encoder {self.name} does not fit the model")
        return X

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        if self.n_features == 1:
            return ["(encoder)"]
        return [f"(encoder {i + 1})" for i in range(self.n_features)]

    def __str__(self) -> str:
        name = self.short_name
        if self.content is not None:
            return f"{name}, tuned by the ratings; {len(self.content) / 2**20:.0f} MB in this file"
        return f"{self.name}, not tuned; predictions need it (weights {self.weights[:12]})"

    @property
    def short_name(self) -> str:
        """The name without the path of a folder."""
        return Path(self.name).name if os.path.isabs(self.name) else self.name

    def _encoder(self) -> "SentenceEncoder":
        """The encoder, loaded when it is used for the first time."""
        if not hasattr(self, "_loaded"):
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> "SentenceEncoder":
        from tordinal.text.encoder import SentenceEncoder
        from tordinal.text.pretrained import find_folder, fingerprint, require_extra

        require_extra()
        if self.content is not None:
            try:
                return SentenceEncoder.from_bytes(self.content)
            except ValueError as error:
                raise TableError(f"the encoder in the model is not sound: {error}") from None
        try:
            folder = find_folder(self.name, download=False)
        except (OSError, ValueError):
            raise TableError(
                f"the model reads texts by the sentence encoder {self.name}, which is neither a "
                "folder nor in the cache of downloaded models here; put it there, or label the "
                "table again with --tune, which saves the encoder in the model"
            ) from None
        if fingerprint(folder) != self.weights:
            raise TableError(
                f"the sentence encoder {self.name} has other weights here than those that the "
                "model was trained with; put that version there, or label the table again"
            )
        return SentenceEncoder(folder, tune=False).fit(["a"])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the loaded encoder."""
        return {name: value for name, value in vars(self).items() if name != "_loaded"}


def find_encoder(settings: Settings) -> Path:
    """Find the encoder of texts, and check that it can be used.

    Parameters
    ----------
    settings : Settings
        Its name, and whether it may be downloaded.

    Returns
    -------
    folder : Path
        Its folder.
    """
    from tordinal.text.pretrained import find_folder, require_extra

    model = (settings.encoder or "").strip()
    if not model:
        raise TableError("`encoder` needs the name or the folder of a model")
    try:
        require_extra()
        return find_folder(model, download=settings.download).absolute()
    except ModuleNotFoundError as error:
        raise TableError(
            f"`encoder` {model} needs packages that are not installed ({error.name}): "
            'pip install "tordinal[encoder]"'
        ) from None
    except (OSError, ValueError) as error:
        why = str(error).removeprefix(f"model={model!r} ").replace("download=True", "`download`")
        raise TableError(f"`encoder` {model} {why}") from None


def read_sentences(
    texts: list[str], target: Target, settings: Settings, listen: Listener, notes: list[str]
) -> tuple[SentenceFeatures, Array]:
    """Encode the texts of a table, cross-fitted where the encoder is tuned.

    Parameters
    ----------
    texts : list of str
        One text per row.
    target : Target
        Their ratings.
    settings : Settings
        Which encoder, and whether to tune it; by default where there is a GPU.
    listen : callable
        Called with the current task, the steps done and the number of steps.
    notes : list of str
        Notes for the user, which are added to.

    Returns
    -------
    sentences : SentenceFeatures
        How new texts are encoded.
    X : ndarray of shape (n_rows, n_features)
        The features of the rows.
    """
    name, rank = settings.encoder or "", target.rank
    tune = False if settings.quick and settings.tune is None else settings.tune
    folder = find_encoder(settings)
    if not texts:
        raise TableError(f"`encoder` {name}: no column is read as text; name one with `text`")
    from tordinal.text.encoder import ON_CPU, SentenceEncoder
    from tordinal.text.pretrained import choose_device, fingerprint

    name = str(folder) if Path(name).is_dir() else name
    on_cpu = choose_device("auto") == "cpu"
    classes = list(range(len(target.classes)))
    tuned = SentenceEncoder(
        folder, random_state=settings.seed, classes=classes, callback=listen
    ).set_params(**(ON_CPU if on_cpu else {}))
    if tune or (tune is None and not on_cpu):
        try:
            X = tuned.fit_transform(texts, rank)
        except ValueError as error:
            if "too few to tune" not in str(error):
                raise
            n = int((rank != UNLABELED).sum())
            if tune:
                raise TableError(
                    f"`tune`: {n} ratings are too few; rate two different texts of each of two "
                    "ratings at least, or use the encoder without `tune`"
                ) from None
            notes.append(f"the encoder was not tuned, because {n} ratings are too few")
        else:
            return SentenceFeatures(name, True, 1, fingerprint(folder), tuned.to_bytes()), X
    frozen = SentenceEncoder(folder, tune=False, callback=listen)
    started = time.perf_counter()
    X = frozen.fit_transform(texts)
    seconds = time.perf_counter() - started
    if tune is None and on_cpu:
        notes.append(_about_tuning(frozen, tuned, texts, rank, seconds))
    elif settings.quick and settings.tune is None:
        notes.append("the encoder was not tuned by the ratings, because of `quick`: use `tune`")
    return SentenceFeatures(name, False, X.shape[1], fingerprint(folder)), X


def _about_tuning(
    frozen: "SentenceEncoder", tuned: "SentenceEncoder", texts: list[str], rank: Ranks,
    seconds: float,
) -> str:  # fmt: skip
    """Describe the cost of tuning."""
    from tordinal.text.cost import estimate_cost

    before = "there is no GPU, so the encoder was not tuned by the ratings"
    try:
        cost = estimate_cost(frozen, tuned, texts, rank, seconds)
    except ValueError:
        return f"{before}, which are too few for it"
    return f"{before}; that would take {cost} and usually rates short texts better: use `tune`"
