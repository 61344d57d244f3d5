"""The eleven data sets: one random partition, three methods, features or kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from clearning.experiments.paper import BENCHMARKS, METHODS
from clearning.experiments.protocol import Protocol
from clearning.experiments.results import Task
from clearning.experiments.selection import (
    Candidates,
    Design,
    FeatureDesign,
    KernelDesign,
    Rows,
    cross_validate,
    make_folds,
)
from clearning.kernels import Kernel, kernel_width
from clearning.losses import make_loss

SETTINGS = ("features", "kernels")


def set_tasks(protocol: Protocol, setting: str, names: tuple[str, ...]) -> list[Task]:
    """Return the tasks of one setting: every partition of every named set."""
    return [
        Task(f"{setting}/{name}/{k:02d}", run_partition, (protocol, setting, name, k))
        for name in names
        for k in range(protocol.n_partitions)
    ]


def run_partition(protocol: Protocol, setting: str, name: str, partition: int) -> dict[str, Any]:
    """Return each method's error on the test part of one partition, with what was selected."""
    X, y = load(name)
    train, test = split(protocol, name, partition)
    design = make_design(setting, X, y, train)
    draws = make_folds(y[train], protocol, protocol.generator("folds", name, partition))
    outcome = {}
    for method, loss in METHODS.items():
        candidates = cross_validate(
            design, y, train, draws, make_loss(loss), protocol.l1_ratios, protocol
        )
        outcome[method] = _judge(candidates, design, y, test)
    return outcome


def _judge(candidates: Candidates, design: Design, y: NDArray, test: Rows) -> dict[str, Any]:
    k, i = candidates.best(candidates.losses())
    path = candidates.paths[k]
    scores = design.scores(path, candidates.train, test)[:, i]
    return {
        "error": float(np.mean(y[test] * scores <= 0)),
        "cv_error": float(candidates.errors()[k, i]),
        "l1_ratio": candidates.l1_ratios[k],
        "alpha": float(path.alphas[i]),
        "alpha_share": float(path.alphas[i] / path.alphas[0]),
        "n_nonzero": int(np.count_nonzero(path.coefs[i])),
        "converged": bool(all(np.all(path.converged) for path in candidates.paths)),
    }


@lru_cache(maxsize=2)
def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a set's samples and its labels as ±1.0."""
    X, y = BENCHMARKS[name].load()
    return X, y.astype(float)


def split(protocol: Protocol, name: str, partition: int) -> tuple[Rows, Rows]:
    """Return the training and test rows of a partition, stratified by class.

    Features and kernels see the same partitions.
    """
    _, y = load(name)
    seed = int(protocol.generator("partition", name, partition).integers(2**31))
    splitter = StratifiedShuffleSplit(1, train_size=BENCHMARKS[name].n_train, random_state=seed)
    return next(splitter.split(y, y))


def make_design(setting: str, X: NDArray[np.float64], y: NDArray, train: Rows) -> Design:
    """Return X itself, or the RBF kernel with σ the mean distance among the training samples."""
    if setting == "features":
        return FeatureDesign(X)
    gamma = kernel_width("mean", X[train], y[train])
    return KernelDesign(Kernel("rbf", gamma=gamma).gram(X))
