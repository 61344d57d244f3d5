"""Real data of two classes: on some the defaults were chosen, on the others they are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernel_quality.sets import Split, folder
from kernel_quality.sets import _pair as usps_pair
from kernel_quality.sets import _parity as usps_parity
from kernel_quality.sets import _table as table
from scipy import sparse
from sklearn import datasets
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler, normalize

N_TRAIN, N_TEST = 300, 2000
# Small sets give this share of their rows to training.
TRAIN_SHARE = 2 / 3
RARE = 0.05
SEED = 17
CHOSEN, JUDGED, RARE_JUDGED = "chosen on", "judged", "judged, 5% positive"

Loader = Callable[[], tuple[Any, np.ndarray]]


@dataclass(frozen=True)
class DataSet:
    """A loader, what the set is for, and whether it is shared data or comes with scikit-learn."""

    load: Loader
    use: str = JUDGED
    shared: bool = True

    @property
    def here(self) -> bool:
        """Whether the data are on this machine."""
        return not self.shared or folder().is_dir()

    def split(self, number: int) -> Split:
        """The split of that number: training samples, scaled by themselves, and test samples."""
        X, y = self.load()
        n_train = min(N_TRAIN, int(TRAIN_SHARE * len(y)))
        splitter = StratifiedShuffleSplit(
            number + 1,
            train_size=n_train,
            test_size=min(len(y) - n_train, N_TEST),
            random_state=SEED,
        )
        *_, (train, test) = splitter.split(X, y)
        return Split(*_scaled(X[train], X[test], y[train], y[test]))


def _scaled(X: Any, X_test: Any, y: np.ndarray, y_test: np.ndarray) -> Iterator[Any]:
    """Dense columns get mean 0 and deviation 1; sparse rows are unit vectors already."""
    if not sparse.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    yield from (X, y, X_test, y_test)


def counts(name: str) -> Loader:
    """A sparse table of counts or indicators: logarithms, as unit rows."""

    def load() -> tuple[Any, np.ndarray]:
        with np.load(folder() / f"{name}.npz") as data:
            parts = (data["data"].astype(float), data["indices"], data["indptr"])
            X = sparse.csr_array(parts, shape=tuple(data["shape"]))
            return normalize(X.log1p()), (data["y"] == data["y"].max()).astype(int)

    return load


def logged(name: str, base: Callable[[Any], Any]) -> Loader:
    """A dense table whose entries are taken the logarithm of."""

    def load() -> tuple[Any, np.ndarray]:
        X, y = table(name)()
        return base(X), y

    return load


def packaged(name: str, positive: tuple[int, ...], among: tuple[int, ...] | None = None) -> Loader:
    """A set that comes with scikit-learn: some of its classes against others."""

    def load() -> tuple[Any, np.ndarray]:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        rows = np.isin(y, among) if among else np.ones(len(y), dtype=bool)
        return X[rows], np.isin(y[rows], positive).astype(int)

    return load


def rare(load: Loader) -> Loader:
    """The same set with positives left out until 5% are positive."""

    def thinned() -> tuple[Any, np.ndarray]:
        X, y = load()
        negative, positive = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
        n_kept = round(RARE / (1 - RARE) * len(negative))
        kept = np.random.default_rng(SEED).choice(positive, n_kept, replace=False)
        rows = np.sort(np.concatenate([negative, kept]))
        return X[rows], y[rows]

    return thinned


SETS = {
    "breast_cancer": DataSet(packaged("breast_cancer", (1,)), CHOSEN, shared=False),
    "colon_alon": DataSet(logged("colon_alon", np.log10), CHOSEN),
    "german_numer": DataSet(table("german_numer"), CHOSEN),
    "saheart": DataSet(table("saheart"), CHOSEN),
    "ssl_g241c": DataSet(table("ssl_g241c"), CHOSEN),
    "sylva_train": DataSet(table("sylva_train"), CHOSEN),
    "a9a": DataSet(counts("a9a"), CHOSEN),
    "arcene": DataSet(table("arcene")),
    "basehock": DataSet(counts("basehock")),
    "diabetes_pima": DataSet(table("diabetes_pima")),
    "digits 3 or 8": DataSet(packaged("digits", (8,), (3, 8)), shared=False),
    "digits odd or even": DataSet(packaged("digits", (1, 3, 5, 7, 9)), shared=False),
    "dorothea": DataSet(counts("dorothea_train")),
    "iris 1 or 2": DataSet(packaged("iris", (2,), (1, 2)), shared=False),
    "leukemia": DataSet(table("leukemia_3571")),
    "rt_polarity": DataSet(counts("rt_polarity_bow")),
    "spambase": DataSet(logged("spambase", np.log1p)),
    "ssl_g241d": DataSet(table("ssl_g241d")),
    "usps 2 or 3": DataSet(usps_pair(2, 3)),
    "usps 4 or 7": DataSet(usps_pair(4, 7)),
    "usps odd or even": DataSet(usps_parity),
    "wine 1 or others": DataSet(packaged("wine", (1,)), shared=False),
    "basehock, rare": DataSet(rare(counts("basehock")), RARE_JUDGED),
    "diabetes_pima, rare": DataSet(rare(table("diabetes_pima")), RARE_JUDGED),
    "digits 8 or others, rare": DataSet(rare(packaged("digits", (8,))), RARE_JUDGED, shared=False),
    "spambase, rare": DataSet(rare(logged("spambase", np.log1p)), RARE_JUDGED),
    "usps odd or even, rare": DataSet(rare(usps_parity), RARE_JUDGED),
}
