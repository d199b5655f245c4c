"""How to rate: the settings of a run, and the estimator for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.cuda.device import ENGINES, find_device
from tordinal.estimators import REDSVM, TOR, TORCV
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES
from tordinal.tables.values import TableError

__all__ = ["WORDLLAMA", "Settings", "make_estimator"]

MANY_ROWS = 5000
QUICK_C = (0.1, 1.0, 10.0)
WORDLLAMA = "wordllama"  # static embeddings, which come with a package of that name
METHODS = ("auto", "tor", "redsvm")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to rate: options of ``tordinal label`` and `tordinal.rate_table`."""

    method: str = "auto"
    C: float | None = None
    kernel: str | None = None
    loss: str | None = None
    seed: int = 0
    jobs: int | None = None
    quick: bool = False
    choose_columns: bool = True
    cost: Any = None  # what errors cost, and how much ratings count: see `TORCV`
    class_weight: Any = None
    single: bool = False  # one model with a linear kernel, which can be fitted on a cluster
    encoder: str | None = None
    tune: bool | None = None
    download: bool = False
    engine: str = "host"

    def __post_init__(self) -> None:
        """Reject wrong values before anything is read."""
        if self.C is not None and not 0 < self.C < float("inf"):
            raise TableError(f"`C` {self.C:g} must be a positive number")
        for option, name, known in (
            ("method", self.method, METHODS),
            ("kernel", self.kernel, [k for k in KERNELS if k != "precomputed"]),
            ("loss", self.loss, list(LOSSES)),
            ("engine", self.engine, ENGINES),
        ):
            if name is not None and name not in known:
                raise TableError(f"`{option}` {name} is not known; choose from {', '.join(known)}")
        if self.jobs == 0:
            raise TableError("`n_jobs` 0: give the number of parallel fits, or -1 for all cores")
        if self.quick and self.method != "auto":
            raise TableError(f"`quick` requires `method` auto, not {self.method}")
        for option in ("cost", "class_weight"):
            if getattr(self, option) is not None and self.method != "auto":
                raise TableError(f"`{option}` requires `method` auto, not {self.method}")
        if self.engine == "cuda":
            if self.single:
                raise TableError(
                    "`engine` cuda: many tables are rated with a linear kernel, on this machine or "
                    "a cluster; leave the option out"
                )
            find_device()
        if self.encoder is None and (self.tune is not None or self.download):
            option = "download" if self.tune is None else "tune"
            raise TableError(f"`{option}` requires `encoder`: name the encoder of texts")
        if self.encoder == WORDLLAMA and self.tune:
            raise TableError(
                "`encoder` wordllama cannot be tuned: it knows words, not sentences; name a model "
                "of sentence-transformers"
            )


def make_estimator(
    method: str,
    settings: Settings,
    views: dict[str, NDArray[np.int64]] | None,
    classes: list[int],
    n_rows: int,
    texts: bool = True,
) -> Any:
    """The estimator for the settings; views are of texts, unless there are none."""
    shared: dict[str, Any] = {"classes": classes, "engine": settings.engine}
    # With one swap per training, as in the paper, the number of trainings grows with the rows.
    many = n_rows > MANY_ROWS
    if method == "auto":
        shared |= {"random_state": settings.seed, "n_jobs": settings.jobs}
        shared |= {"swaps": ("all", "optimal")} if many else {}
        # Rows of text have unit length: their inner product is the cosine, and other kernels see no
        # more than that.
        linear = (views and texts) or settings.single
        kernel = settings.kernel or ("linear" if linear else None)
        given: dict[str, Any] = {"C": settings.C, "kernel": kernel, "loss": settings.loss}
        if settings.single:
            shared |= {"ensemble_size": 1}
        if settings.quick:
            shared |= {"ensemble_size": 1, "swaps": "optimal", "class_ratio": "labeled"}
            views = None
            usual = {"C": QUICK_C, "kernel": "linear" if settings.single else "perceptron"}
            usual |= {"loss": "hinge"}
            given = {name: usual[name] if v is None else v for name, v in given.items()}
        given = {name: value for name, value in given.items() if value is not None}
        return TORCV(**shared, **given, views=views)
    linear = (views and texts) or settings.single
    kernel = settings.kernel or ("linear" if linear else "perceptron")
    C = 1.0 if settings.C is None else settings.C
    shared |= {"swaps": "all"} if many and method == "tor" else {}
    return {"tor": TOR, "redsvm": REDSVM}[method](
        C=C, kernel=kernel, loss=settings.loss or "hinge", **shared
    )
