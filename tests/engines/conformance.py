"""Engines, each as Algorithm 1 meets it: a trainer, pseudo-labels, and what they hold."""

import uuid
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from clusters import in_blocks
from emulated import EmulatedDevice

from tordinal.dask.trainer import ClusterTrainer
from tordinal.engines.cuda.device import find_device
from tordinal.engines.cuda.gram import CudaGram
from tordinal.engines.cuda.pseudo_labels import CudaLabels
from tordinal.engines.dask import pieces
from tordinal.engines.dask.data import BlockedData
from tordinal.engines.dask.parts import Parts
from tordinal.engines.dask.pseudo_labels import ClusterLabels
from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.engines.host.rows import linear_rows
from tordinal.fitting import SolverTrainer
from tordinal.kernels import Linear
from tordinal.solvers import Newton, solver_for

TOL = 1e-9


@dataclass
class Engine:
    """An engine at work on some rows.

    Attributes
    ----------
    trainer, labels
        What Algorithm 1 is given.
    read_labels : callable
        The present labels of all rows.
    project : callable
        Projections of all rows by a fit.
    """

    trainer: Any
    labels: Any
    read_labels: Callable[[], Any]
    project: Callable[[Any], Any]


@contextmanager
def host(X, rank, weight, problem, client):
    labels = HostLabels(rank, weight)
    solver = Newton(linear_rows(X), problem)
    trainer = SolverTrainer(solver, labels, TOL, -1)
    yield Engine(trainer, labels, lambda: labels.y, lambda fit: fit.h)


@contextmanager
def dask(X, rank, weight, problem, client):
    token, n = uuid.uuid4().hex, len(rank)
    sizes = [n // 3, 0, n - n // 3]
    data = BlockedData(client, in_blocks(X, sizes), rank, weight, None, token, transductive=True)
    parts = Parts(client, data.prepared, token)
    trainer = ClusterTrainer(parts, problem, data, TOL, -1)
    _, free = trainer.rows.sum(pieces.given_weights, problem.n_thresholds + 1)
    labels = ClusterLabels(trainer.rows, trainer.problem, n, int(free))

    def read_labels():
        return np.concatenate(client.gather(parts.labels(data.classes)))

    def project(fit):
        trainer.rows.project(fit.w)
        h = trainer.rows.sum(projections)
        return np.concatenate([h[number] for number in sorted(h)])

    try:
        yield Engine(trainer, labels, read_labels, project)
    finally:
        parts.release()
        client.cancel(data.prepared)


@contextmanager
def cuda(X, rank, weight, problem, client, device):
    data = CudaGram(Linear(), X - X.mean(axis=0), double=True, centre=X.mean(axis=0), device=device)
    labels = CudaLabels(rank, weight, device)
    trainer = SolverTrainer(solver_for(data, problem), labels, TOL, -1)
    yield Engine(trainer, labels, lambda: labels.y, lambda fit: fit.h)


def projections(piece):
    return {piece.number: piece.h}


ENGINES = {
    "host, dense": host,
    "host, sparse": lambda X, *rest: host(sp.csr_array(X), *rest),
    "dask, dense": dask,
    "dask, sparse": lambda X, *rest: dask(sp.csr_matrix(X), *rest),
    "cuda, emulated": lambda *start: cuda(*start, EmulatedDevice()),
    "cuda, emulated with three blocks": lambda *start: cuda(*start, EmulatedDevice(3)),
    "cuda": lambda *start: cuda(*start, find_device()),
}
