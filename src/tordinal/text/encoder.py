"""Texts by a sentence encoder that is tuned by their ratings."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from tordinal._sklearn import Interval, fit_context
from tordinal.labels import encode_labels, single_column
from tordinal.progress import Progress
from tordinal.reduction import UNLABELED, Ranks
from tordinal.text.cross_tuning import CrossTuning, Work, deal_texts, read_texts
from tordinal.text.pretrained import (
    DESCRIPTION,
    FORMAT,
    MOST_BYTES,
    choose_device,
    find_folder,
    load_model,
    no_progress_bars,
    pack,
    read_description,
    require_extra,
    unpack,
)
from tordinal.text.windows import Windows, embed

__all__ = ["ON_CPU", "SentenceEncoder"]

Array = NDArray[np.float64]

# Tuning without a GPU takes a fifth of the time with these, for an MAE that was 0.03 to 0.1 higher:
# docs/notes/2026-11-sentence-encoder.md
ON_CPU = {"n_folds": 3, "epochs": 10, "window": 64}

SAVED = (
    "transduce", "max_windows", "window", "n_folds", "epochs", "batch_size", "learning_rate",
    "n_layers", "C",
)  # fmt: skip


class SentenceEncoder(TransformerMixin, BaseEstimator):
    """Texts by a sentence encoder, tuned by the ratings and by the unrated texts.

    With ``tune=True`` a text becomes one number, its projection on the ordinal axis: the encoder is
    tuned so that texts of near ratings have near embeddings, and a threshold model (`REDSVM` with
    the logistic loss) on the embeddings of the rated texts gives h. With ``transduce=True`` the
    unrated texts then get pseudo-labels by Algorithm 2, and the encoder is tuned a second time, on
    both.

    `fit_transform` is cross-fitted: the projection of each labelled text is from an encoder that
    has not seen its rating, so a model of this column may be cross-validated. Unlabelled texts are
    projected by an encoder tuned on all ratings, which `transform` uses, too. So
    ``fit(texts, y).transform(texts)`` is not ``fit_transform(texts, y)``: only the latter may be
    used to train another model. `Pipeline` does.

    With ``tune=False`` a text becomes its embedding, as the model comes, scaled to unit length.

    Parameters
    ----------
    model : str or path
        Folder of a model of sentence-transformers, or the name of one in its cache. Weights must
        be in safetensors format; code that comes with a model is never run.
    tune : bool, default=True
        Whether to tune the encoder by the ratings. Takes seconds on a GPU and up to an hour on a
        CPU.
    transduce : bool, default=True
        Whether unlabelled texts take part in tuning. False reads a third of the texts.
    device : str, default="auto"
        "cuda", "mps" or "cpu"; "auto" is the first of them that is there.
    max_windows : int, default=4
        A text is cut into at most so many windows; its embedding is their mean.
    window : int, default=128
        Tokens of a window at most. 64 is faster.
    n_folds : int, default=5
        Folds of cross-fitting. With fewer, tuning takes less time, and each model learns from fewer
        ratings.
    epochs : int, default=20
        How often each labelled text is seen in tuning. Time is in proportion.
    batch_size : int, default=32
        Labelled texts in a batch at most. Smaller ones need less memory.
    learning_rate : float, default=5e-5
        Learning rate of AdamW after its warm-up. Lower it if tuning makes the error larger.
    n_layers : int, default=None
        How many layers of the encoder are tuned, from the top. None: all of it.
    C : float, default=1.0
        Cost of the threshold model, as in `REDSVM`.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels in y, sorted.
    download : bool, default=False
        Whether a model that is not in the cache may be downloaded.
    random_state : int, RandomState or None, default=None
        Seed of batches, windows and dropout. The same seed gives the same result on one device.
    callback : callable, default=None
        Called with the current task, the steps done and the number of steps.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest, if tuned.
    coef_, intercept_ : ndarray of shape (n_dimensions,), float
        The projection of an embedding, if tuned. It has mean 0 and standard deviation 1 over the
        texts of the fit.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Thresholds between the classes on its scale, if tuned.
    device_ : str
        Where it was computed.

    See Also
    --------
    TextViews : Words, phrases and letters.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from tordinal import TOR
    >>> from tordinal.text import SentenceEncoder
    >>> encoder = SentenceEncoder("sentence-transformers/all-MiniLM-L6-v2", random_state=0)
    >>> model = make_pipeline(encoder, TOR())
    >>> model.fit(["It broke.", "Good.", "Loved it!"], [1, 2, -1])  # doctest: +SKIP
    """

    _model: Any
    _windows: Windows
    device_: str

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "model": [str, os.PathLike],
        "tune": ["boolean"],
        "transduce": ["boolean"],
        "device": [str],
        "max_windows": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 4, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "n_layers": [Interval(Integral, 1, None, closed="left"), None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "classes": ["array-like", None],
        "download": ["boolean"],
        "random_state": ["random_state"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        tune: bool = True,
        transduce: bool = True,
        device: str = "auto",
        max_windows: int = 4,
        window: int = 128,
        n_folds: int = 5,
        epochs: int = 20,
        batch_size: int = 32,
        learning_rate: float = 5e-5,
        n_layers: int | None = None,
        C: float = 1.0,
        classes: Any = None,
        download: bool = False,
        random_state: Any = None,
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ):
        self.model = model
        self.tune = tune
        self.transduce = transduce
        self.device = device
        self.max_windows = max_windows
        self.window = window
        self.n_folds = n_folds
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_layers = n_layers
        self.C = C
        self.classes = classes
        self.download = download
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Tune the encoder on all ratings, for texts that are not among the labelled ones.

        Parameters
        ----------
        texts : iterable of str
            Labelled and unlabelled texts.
        y : array-like of shape (n_texts,), default=None
            Their labels, with -1, None or NaN for unlabelled texts. Not used with ``tune=False``.

        Returns
        -------
        self : SentenceEncoder
            The fitted encoder.
        """
        self._fit(texts, y, cross_fit=False)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> Array:
        """Tune the encoder, and project the same texts without using a text's own rating.

        Parameters
        ----------
        texts : iterable of str
            Labelled and unlabelled texts.
        y : array-like of shape (n_texts,), default=None
            Their labels, as in `fit`.

        Returns
        -------
        X : ndarray of shape (n_texts, 1) or (n_texts, n_dimensions)
            Cross-fitted projections of labelled texts and projections of unlabelled ones; with
            ``tune=False`` embeddings.
        """
        return self._fit(texts, y, cross_fit=True)

    def transform(self, texts: Iterable[str]) -> Array:
        """Project texts by the encoder that was tuned on all ratings.

        Parameters
        ----------
        texts : iterable of str
            Texts that are not among the labelled texts of the fit.

        Returns
        -------
        X : ndarray of shape (n_texts, 1) or (n_texts, n_dimensions)
            Their projections; with ``tune=False`` embeddings.
        """
        check_is_fitted(self)
        texts = read_texts(texts)
        work = Work(Progress(self, 1), "embedding texts", len(texts))
        X = embed(self._model, self._windows, texts, work.add)
        return X if self.coef_ is None else (X @ self.coef_ + self.intercept_)[:, None]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the features.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of str
            One name per feature.
        """
        check_is_fitted(self)
        if self.coef_ is not None:
            return np.array(["(encoder)"], dtype=object)
        n = self._model.get_embedding_dimension()
        return np.array([f"(encoder {i + 1})" for i in range(n)], dtype=object)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the tuned model in a folder that sentence-transformers can load, too.

        Parameters
        ----------
        folder : str or path
            A folder that does not exist or is empty. It is complete or not written.
        """
        check_is_fitted(self)
        folder = Path(folder).absolute()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileExistsError(f"{folder} exists and is not empty. Choose another folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            whole = Path(scratch) / "encoder"
            self._write(whole)
            if folder.exists():
                folder.rmdir()
            os.replace(whole, folder)

    def to_bytes(self) -> bytes:
        """Return the tuned model as bytes: weights, vocabulary, settings; nothing is pickled.

        Returns
        -------
        data : bytes
            A ZIP archive of the files that `save` writes.
        """
        check_is_fitted(self)
        with tempfile.TemporaryDirectory() as scratch:
            self._write(Path(scratch))
            return pack(Path(scratch))

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Load an encoder that `save` has written.

        Parameters
        ----------
        folder : str or path
            The folder.
        device : str, default="auto"
            As in the constructor.

        Returns
        -------
        encoder : SentenceEncoder
            A fitted encoder.
        """
        require_extra()
        state = read_description(Path(folder))
        try:
            encoder = cls(**state["parameters"], device=device)
            encoder._validate_params()
            encoder._set_projection(state["projection"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"{folder}: the settings or the projection are damaged. Save the encoder again."
            ) from error
        encoder.device_ = choose_device(device)
        encoder._model = load_model(Path(folder), encoder.device_)
        encoder._windows = Windows(encoder._model, encoder.window, encoder.max_windows)
        n = encoder._model.get_embedding_dimension()
        if encoder.coef_ is not None and encoder.coef_.shape != (n,):
            raise ValueError(f"{folder}: the projection does not fit the encoder. Save it again.")
        return encoder

    def _set_projection(self, projection: dict[str, Any] | None) -> None:
        """Set the attributes of a saved projection."""
        self.coef_ = None
        if projection is None:
            return
        self.coef_, self.thresholds_ = (
            np.array(projection[name], dtype=np.float64) for name in ("coef", "thresholds")
        )
        self.intercept_ = float(projection["intercept"])
        self.classes_ = np.array(projection["classes"])
        numbers = [*self.coef_, *self.thresholds_, self.intercept_]
        if len(self.thresholds_) != len(self.classes_) - 1 or not np.isfinite(numbers).all():
            raise ValueError("thresholds or weights are wrong")

    @classmethod
    def from_bytes(cls, data: bytes, *, device: str = "auto", max_bytes: int = MOST_BYTES) -> Self:
        """Load an encoder from `to_bytes`; names, sizes and shapes are checked first.

        Parameters
        ----------
        data : bytes
            The archive.
        device : str, default="auto"
            As in the constructor.
        max_bytes : int, default=4 GiB
            Most bytes that are accepted.

        Returns
        -------
        encoder : SentenceEncoder
            A fitted encoder.
        """
        require_extra()
        with tempfile.TemporaryDirectory() as scratch:
            unpack(data, Path(scratch), max_bytes)
            return cls.load(scratch, device=device)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the model as bytes: it may be loaded where there is no GPU."""
        state = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = self.to_bytes()
            del state["_windows"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Load the model."""
        super().__setstate__(state)
        if "_model" in state:
            try:
                device = choose_device(self.device)
            except ValueError:  # it was fitted on a machine with another one
                device = "auto"
            loaded = type(self).from_bytes(state["_model"], device=device)
            self._model, self._windows = loaded._model, loaded._windows
            self.device_ = loaded.device_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = self.tune
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def _fit(self, texts: Iterable[str], y: Any, *, cross_fit: bool) -> Array:
        """Fit; return the features of the texts."""
        texts = read_texts(texts)
        if self.tune:
            classes, rank = self._read_labels(texts, y)
            fold = deal_texts(texts, rank, self.n_folds) if cross_fit else None
        require_extra()
        device = choose_device(self.device)
        # Set at the end, so that an interrupted fit leaves the state of the last one.
        fitted: dict[str, Any] = {"device_": device, "coef_": None}
        model = load_model(find_folder(self.model, download=self.download), device)
        windows = Windows(model, self.window, self.max_windows)
        fitted |= {"_model": model, "_windows": windows}
        with Progress(self, n_levels=1) as progress:
            if not self.tune:
                work = Work(progress, "embedding texts", len(texts))
                X = embed(model, windows, texts, work.add)
            else:
                seed = int(check_random_state(self.random_state).randint(2**31 - 1))
                tuning = CrossTuning(
                    self, model, windows, texts, rank, len(classes), seed, progress
                )
                h = np.empty(len(texts))
                held_out = [] if fold is None else [fold == k for k in range(int(fold.max()) + 1)]
                tuning.plan([*held_out, np.zeros(len(texts), dtype=bool)])
                for k, rows in enumerate(held_out):
                    _, h[rows] = tuning.run(rows, rows, seed=seed + 1 + k)
                rest = rank == UNLABELED
                projection, h[rest] = tuning.run(np.zeros_like(rest), rest, seed=seed)
                fitted |= {"classes_": classes, **projection}
                X = h[:, None]
        self.__dict__.update(fitted)
        return X

    def _read_labels(self, texts: list[str], y: Any) -> tuple[NDArray[Any], Ranks]:
        """Turn labels into ranks."""
        if y is None:
            raise ValueError(
                "SentenceEncoder with tune=True requires y to be passed, but the target y is None. "
                "Pass one label per text, None or -1 for the unlabelled ones, or tune=False."
            )
        y = single_column(y)
        if len(y) != len(texts):
            raise ValueError(
                f"There are {len(texts)} texts but y has {len(y)} labels. Pass one label per text."
            )
        return encode_labels(y, self.classes, transductive=True)

    def _write(self, folder: Path) -> None:
        """Write the model and the projection into a folder."""
        with no_progress_bars():
            self._model.save_pretrained(
                str(folder), create_model_card=False, safe_serialization=True
            )
        projection = None
        if self.coef_ is not None:
            projection = {
                "coef": self.coef_.tolist(),
                "intercept": self.intercept_,
                "thresholds": self.thresholds_.tolist(),
                "classes": self.classes_.tolist(),
            }
        parameters = {name: getattr(self, name) for name in SAVED}
        parameters["tune"] = self.coef_ is not None
        # Only the name of a folder: its path is of no use on another machine.
        name = os.fspath(self.model)
        parameters["model"] = Path(name).name if Path(name).is_dir() else name
        state = {"format": FORMAT, "parameters": parameters, "projection": projection}
        (folder / DESCRIPTION).write_text(json.dumps(state, default=_plain), encoding="utf-8")


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python; for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved")
