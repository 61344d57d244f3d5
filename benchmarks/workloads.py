"""The problems that are timed: designs, labels and penalties, the same for every solver."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.signal
import scipy.sparse as sp

N_ALPHAS = 100

SIMULATED = ["62x2000", "72x7129", "200x20000", "1000x1000", "5000x500", "100000x100"]
SPARSE = ["sparse20000x50000"]
REAL = ["colon", "leukemia", "arcene", "dorothea", "a9a", "rt_polarity", "basehock"]
LINEAR = SIMULATED + SPARSE + REAL


@dataclass(frozen=True)
class Workload:
    """A design (dense and column-major, or CSC) and labels 0/1."""

    name: str
    X: np.ndarray | sp.csc_array
    y: np.ndarray

    @property
    def signs(self) -> np.ndarray:
        return 2.0 * self.y - 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def alphas(self, l1_ratio: float, *, n_alphas: int = N_ALPHAS) -> np.ndarray:
        """Log grid from the largest useful penalty of the logistic loss downwards."""
        n, p = self.shape
        gradient = self.X.T @ (self.y - self.y.mean()) / n
        largest = np.abs(gradient).max() / l1_ratio
        ratio = 1e-2 if n < p else 1e-4
        return largest * np.logspace(0.0, np.log10(ratio), n_alphas)


def drawn(seed: int) -> list[str]:
    """Five shapes that nobody has tuned for, three dense and two sparse."""
    rng = np.random.default_rng(seed)

    def shape(entries: float) -> str:
        n = 10.0 ** rng.uniform(1.7, 4.3)
        return f"{round(n)}x{round(min(max(entries / n, 20.0), 50_000.0))}"

    dense = [shape(10.0 ** rng.uniform(5.5, 6.7)) for _ in range(3)]
    sparse = ["sparse" + shape(10.0 ** rng.uniform(7.0, 8.5)) for _ in range(2)]
    return dense + sparse


class Missing(Exception):
    """The data of a workload are not on this machine."""


def load(name: str) -> Workload:
    """The workload of that name: "nxp", "sparse<n>x<p>", "kernel<n>" or a real data set."""
    if name in _READERS:
        X, y = _READERS[name]()
    elif name.startswith("kernel"):
        X, y = _kernel_matrix(int(name.removeprefix("kernel")))
    elif name.startswith("sparse"):
        X, y = sparse_design(*_shape(name.removeprefix("sparse")))
    else:
        X, y = gaussian_design(*_shape(name))
    return Workload(name, X, y)


def _shape(text: str) -> tuple[int, int]:
    n, p = text.split("x")
    return int(n), int(p)


# ---------------------------------------------------------------- simulated designs


def gaussian_design(n: int, p: int, *, correlation: float = 0.5, n_true: int = 20, seed: int = 0):
    """Gaussian columns with AR(1) correlation; noisy labels from a sparse logistic model."""
    rng = np.random.default_rng([seed, n, p])
    X = np.empty((n, p), order="F")
    innovation = np.sqrt(1.0 - correlation**2)
    step = max(1, 10_000_000 // p)
    for start in range(0, n, step):
        block = rng.standard_normal((min(step, n - start), p))
        block[:, 1:] *= innovation
        X[start : start + step] = scipy.signal.lfilter([1.0], [1.0, -correlation], block, axis=1)
    return X, _labels(X, n_true, rng)


def sparse_design(n: int, p: int, *, density: float = 1e-3, seed: int = 0):
    """Uniformly scattered entries; labels from one feature in fifty, so that most rows have one."""
    rng = np.random.default_rng([seed, n, p])
    X = sp.random_array(
        (n, p), density=density, format="csc", rng=rng, data_sampler=rng.standard_normal
    )
    return sp.csc_array(X), _labels(X, p // 50, rng)


def _labels(X, n_true: int, rng: np.random.Generator) -> np.ndarray:
    n, p = X.shape
    support = np.linspace(0, p - 1, min(n_true, p)).astype(int)
    coef = np.where(np.arange(len(support)) % 2, -1.0, 1.0)
    score = X[:, support] @ coef
    score *= 2.0 / (score.std() or 1.0)
    return (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)


# ---------------------------------------------------------------- real data


@lru_cache
def _data_folder() -> Path:
    if "CLEARNING_DATA" not in os.environ:
        raise Missing("CLEARNING_DATA is not set")
    return Path(os.environ["CLEARNING_DATA"])


def _arrays(file: str):
    path = _data_folder() / f"{file}.npz"
    if not path.exists():
        raise Missing(f"{file}.npz is not in CLEARNING_DATA")
    return np.load(path, allow_pickle=False)


def _dense(file: str, transform: Callable[[np.ndarray], np.ndarray] = lambda X: X):
    """Columns brought to mean 0 and deviation 1, constant ones dropped."""
    arrays = _arrays(file)
    X = transform(np.asarray(arrays["X"], dtype=float))
    X = X[:, X.std(axis=0) > 0]
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), _two_classes(arrays["y"])


def _sparse(file: str):
    """As they are: indicators and counts."""
    arrays = _arrays(file)
    parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
    X = sp.csr_array(parts, shape=tuple(arrays["shape"])).tocsc()
    return X, _two_classes(arrays["y"])


def _three_quarters(X, y):
    """Of the rows, so many as a user trains on."""
    rows = np.random.default_rng(0).permutation(len(y))[: 3 * len(y) // 4]
    return sp.csc_array(X[rows]), y[rows]


def _two_classes(y: np.ndarray) -> np.ndarray:
    return (y == np.unique(y)[1]).astype(np.int64)


_READERS = {
    "colon": lambda: _dense("colon_alon", np.log10),
    "leukemia": lambda: _dense("leukemia_golub7129"),
    "arcene": lambda: _dense("arcene"),
    "dorothea": lambda: _sparse("dorothea_train"),
    "a9a": lambda: _sparse("a9a"),
    "rt_polarity": lambda: _sparse("rt_polarity_bow"),
    "rt_polarity-train": lambda: _three_quarters(*_sparse("rt_polarity_bow")),
    "basehock": lambda: _sparse("basehock"),
}


# ---------------------------------------------------------------- kernel workloads


def kernel_data(n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows in 20 dimensions; noisy labels from sines and two products of them."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, 20))
    score = np.sin(X[:, :5]).sum(axis=1) + X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]
    probability = 1.0 / (1.0 + np.exp(-1.65 * score))
    return X, (rng.random(n) < probability).astype(np.int64)


def rbf(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    squares = (A**2).sum(axis=1)[:, None] - 2.0 * A @ B.T + (B**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares, 0.0))


def _kernel_matrix(n: int):
    """The matrix itself as a design: what a solver of features makes of a kernel expansion."""
    X, y = kernel_data(n)
    K = rbf(X, X, 1.0 / X.shape[1])
    return np.asfortranarray((K + K.T) / 2.0), y
