"""The defaults of the searches, chosen on some sets and left to be judged on others.

    python benchmarks/defaults/choose.py                       # some twenty minutes, one thread
    python benchmarks/defaults/choose.py --kind linear --splits 5

reads the shared data (CLEARNING_DATA) and prints, for each variant of a search, the mean log-loss
on held-out samples less that of the old default (`search="paper"`), its standard error over the
sets, the features or support vectors kept and the seconds. Sets that are not named here, USPS,
spambase, pima, g241d, arcene, leukemia and the texts among them, had no part in any choice: the
quality study judges by those.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV, _search

N_TRAIN = 300
MOST_TEST = 2000
SEED = 7

LINEAR: dict[str, dict[str, Any]] = {
    "paper (the old default)": {"search": "paper"},
    "new default": {},
    "not calibrated": {"calibrate": False},
    "one l1_ratio": {"l1_ratios": (0.5,)},
    "l1_ratio from 0.1": {"l1_ratios": (0.1,)},
    "(ρ, u) = (1, 1)": {"rhos": (1.0,), "us": (1.0,)},
    "logistic loss": {"loss": "logistic"},
    "any win counts": {"errors": 0.0},
    "wins by one error": {"errors": 1.0},
}
KERNEL: dict[str, dict[str, Any]] = {
    "paper (the old default)": {"search": "paper"},
    "new default": {},
    "not calibrated": {"calibrate": False},
    "one width": {"gammas": ("median",)},
    "l1_ratio = 0": {"l1_ratios": (0.0,)},
    "(ρ, u) = (1, 1)": {"rhos": (1.0,), "us": (1.0,)},
    "logistic loss": {"loss": "logistic"},
    "any win counts": {"errors": 0.0},
    "wins by one error": {"errors": 1.0},
}
KINDS = {"linear": (CLearningClassifierCV, LINEAR), "kernel": (KernelCLearningClassifierCV, KERNEL)}


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(Path(os.environ.get("CLEARNING_DATA", "../shared/data")) / f"{name}.npz") as data:
        y = (data["y"] == data["y"].max()).astype(int)
        if "indptr" not in data:
            return data["X"].astype(float), y
        parts = data["data"].astype(float), data["indices"], data["indptr"]
        return sparse.csr_array(parts, shape=tuple(data["shape"])).toarray(), y


def _colon() -> tuple[np.ndarray, np.ndarray]:
    X, y = _table("colon_alon")
    return np.log10(X), y


CHOOSE: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "colon_alon": _colon,
    "german_numer": lambda: _table("german_numer"),
    "saheart": lambda: _table("saheart"),
    "ssl_g241c": lambda: _table("ssl_g241c"),
    "sylva_train": lambda: _table("sylva_train"),
    "a9a": lambda: _table("a9a"),
}


def splits(name: str, n_splits: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield training and test samples, on the scale of the training samples."""
    X, y = CHOOSE[name]()
    n_train = min(N_TRAIN, int(0.65 * len(y)))
    splitter = StratifiedShuffleSplit(
        n_splits, train_size=n_train, test_size=min(MOST_TEST, len(y) - n_train), random_state=SEED
    )
    for train, test in splitter.split(X, y):
        scaler = StandardScaler().fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def measure(kind: str, options: dict[str, Any], split: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return log-loss, number of features or support vectors, and seconds."""
    X, y, X_test, y_test = split
    told = dict(options)
    kept, _search._CLEARLY = _search._CLEARLY, told.pop("errors", _search._CLEARLY)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KINDS[kind][0](**told).fit(X, y)
    seconds, _search._CLEARLY = time.process_time() - began, kept
    size = np.count_nonzero(model.coef_) if kind == "linear" else len(model.support_)
    return np.array([log_loss(y_test, model.predict_proba(X_test)), size, seconds])


def study(kind: str, names: list[str], n_splits: int, n_variants: int | None) -> None:
    """Print the table of one kind of search."""
    variants = dict(list(KINDS[kind][1].items())[:n_variants])
    found = {variant: np.empty((len(names), 3)) for variant in variants}
    for row, name in enumerate(names):
        every = list(splits(name, n_splits))
        for variant, options in variants.items():
            results = [measure(kind, options, split) for split in every]
            found[variant][row] = np.mean(results, axis=0)
    old = found["paper (the old default)"]
    print(f"\n{kind}: {', '.join(names)}; {n_splits} splits each\n")
    print("| search | log-loss | less that of the old | ± | kept | seconds |")
    print("|---|---|---|---|---|---|")
    for variant, table in found.items():
        gain = table[:, 0] - old[:, 0]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        loss, size, seconds = table.mean(axis=0)
        print(
            f"| {variant} | {loss:.4f} | {gain.mean():+.4f} | {error:.4f} | {size:.0f} | "
            f"{seconds:.2f} |"
        )
    print("\nof the new default, set by set:", end=" ")
    gains = found["new default"][:, 0] - old[:, 0]
    print(", ".join(f"{name} {gain:+.4f}" for name, gain in zip(names, gains)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=sorted(KINDS), action="append")
    parser.add_argument("--sets", nargs="*", default=list(CHOOSE), choices=list(CHOOSE))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--variants", type=int, help="the first so many; by default all")
    given = parser.parse_args()
    for kind in given.kind or ["linear", "kernel"]:
        study(kind, given.sets, given.splits, given.variants)


if __name__ == "__main__":
    main()
