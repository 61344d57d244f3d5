"""Real data of two classes for the study of calibration, with at most 2000 rows each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer

MOST_ROWS = 2000
MOST_SPARSE_ROWS = 1000


def folder() -> Path:
    return Path(os.environ.get("CLEARNING_DATA", "../shared/data"))


def read(name: str) -> tuple[np.ndarray | sparse.csr_array, np.ndarray]:
    """X and y of 0 and 1; where there are too many rows, some chosen at random."""
    X, y = SETS[name]()
    labels = np.unique(y)
    if len(labels) != 2:
        raise ValueError(f"{name} has {len(labels)} classes")
    most = MOST_SPARSE_ROWS if sparse.issparse(X) else MOST_ROWS
    rows = np.random.default_rng(0).permutation(len(y))[:most]
    return X[rows], (y[rows] == labels[1]).astype(int)


def _dense(name: str):
    def load():
        with np.load(folder() / f"{name}.npz") as data:
            return data["X"].astype(float), data["y"]

    return load


def _sparse(name: str):
    def load():
        with np.load(folder() / f"{name}.npz") as data:
            parts = (data["data"].astype(float), data["indices"], data["indptr"])
            return sparse.csr_array(parts, shape=tuple(data["shape"])), data["y"]

    return load


def _dense_of(load_sparse):
    def load():
        X, y = load_sparse()
        return X.toarray(), y

    return load


def _digits(first: int, second: int):
    def load():
        with np.load(folder() / "usps.npz") as data:
            y = data["y_train"]
            chosen = (y == first) | (y == second)
            return data["X_train"][chosen].astype(float), y[chosen]

    return load


SETS = {
    "saheart": _dense("saheart"),
    "diabetes": _dense("diabetes_pima"),
    "german": _dense("german_numer"),
    "spambase": _dense("spambase"),
    "sylva": _dense("sylva_train"),
    "g241c": _dense("ssl_g241c"),
    "g241d": _dense("ssl_g241d"),
    "arcene": _dense("arcene"),
    "a9a": _dense_of(_sparse("a9a")),
    "basehock": _sparse("basehock"),
    "rt_polarity": _sparse("rt_polarity_bow"),
    "usps 3 or 8": _digits(3, 8),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
}
