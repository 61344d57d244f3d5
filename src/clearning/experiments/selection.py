"""Cross-validation over whole paths: γ and ω for one method on one training set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from clearning.experiments.protocol import Protocol
from clearning.losses import Loss
from clearning.path import RegularizationPath, clearning_path, kernel_clearning_path

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Fold = tuple[Rows, Rows]


class Design(Interface):
    """All samples, of which a path is fitted to some rows and scores others."""

    def fit(self, rows: Rows, y: Array, **options: Any) -> RegularizationPath: ...

    def scores(self, path: RegularizationPath, fitted: Rows, rows: Rows) -> Array: ...


@dataclass(frozen=True)
class FeatureDesign:
    """The linear feature expansion a + x'b."""

    X: Array

    def fit(self, rows: Rows, y: Array, **options: Any) -> RegularizationPath:
        return _quietly(clearning_path, self.X[rows], y[rows], **options)

    def scores(self, path: RegularizationPath, fitted: Rows, rows: Rows) -> Array:
        return self.X[rows] @ path.coefs.T + path.intercepts


@dataclass(frozen=True)
class KernelDesign:
    """The kernel expansion α + k'β in the fitted samples."""

    K: Array

    def fit(self, rows: Rows, y: Array, **options: Any) -> RegularizationPath:
        return _quietly(kernel_clearning_path, self.K[np.ix_(rows, rows)], y[rows], **options)

    def scores(self, path: RegularizationPath, fitted: Rows, rows: Rows) -> Array:
        return self.K[np.ix_(rows, fitted)] @ path.coefs.T + path.intercepts


def _quietly(
    solve: Callable[..., RegularizationPath], *data: Any, **options: Any
) -> RegularizationPath:
    # A fit that ends early says so in `path.converged`, which the tasks report.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(*data, **options)


@dataclass(frozen=True)
class Candidates:
    """One method's paths on a training set, one for each ω, with their held-out scores.

    `held_out[k]` has a row for each draw of the folds and training sample, a column for each γ.
    """

    loss: Loss
    train: Rows
    l1_ratios: tuple[float, ...]
    paths: list[RegularizationPath]
    held_out: list[Array]
    labels: Array

    def criterion(self, measure: Callable[[Array, Array], Array]) -> Array:
        """Return the mean held-out measure(y, scores) for each ω and γ."""
        y = self.labels[:, None]
        return np.array([measure(y, scores).mean(axis=0) for scores in self.held_out])

    def errors(self) -> Array:
        """Return the held-out error rate for each ω and γ."""
        return self.criterion(lambda y, scores: (y * scores <= 0).astype(float))

    def losses(self) -> Array:
        """Return the mean held-out loss, the method's own, for each ω and γ."""
        return self.criterion(lambda y, scores: self.loss.value(y * scores))

    def best(self, *criteria: Array) -> tuple[int, int]:
        """Return the indices (ω, γ) of the smallest first criterion, ties broken by the next ones.

        Models without any coefficient are left out. What still ties goes to the first ω and the
        largest γ.
        """
        empty = np.array([path.n_nonzero == 0 for path in self.paths]).ravel()
        keys = [np.round(criterion.ravel(), 12) for criterion in reversed(criteria)]
        return divmod(int(np.lexsort([*keys, empty])[0]), criteria[0].shape[1])


def make_folds(y: Array, protocol: Protocol, rng: np.random.Generator) -> list[list[Fold]]:
    """Return `n_repeats` draws of stratified folds."""
    n_folds = min(protocol.n_folds, int(np.min(np.unique(y, return_counts=True)[1])))
    seeds = rng.integers(2**31, size=protocol.n_repeats).tolist()
    return [
        list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))
        for seed in seeds
    ]


def cross_validate(
    design: Design,
    y: Array,
    train: Rows,
    draws: Sequence[Sequence[Fold]],
    loss: Loss,
    l1_ratios: Sequence[float],
    protocol: Protocol,
) -> Candidates:
    """Fit the paths of every ω to the training rows, and to each fold's on the same grid of γ."""
    paths, held_out = [], []
    for l1_ratio in l1_ratios:
        options = {"loss": loss, "l1_ratio": l1_ratio, "tol": protocol.tol}
        path = design.fit(
            train,
            y,
            alphas=protocol.n_alphas,
            alpha_min_ratio=protocol.floor(l1_ratio),
            **options,
        )
        scores = np.empty((len(draws), len(train), len(path.alphas)))
        for draw, folds in enumerate(draws):
            for fit, test in folds:
                fold = design.fit(train[fit], y, alphas=path.alphas, **options)
                scores[draw, test] = design.scores(fold, train[fit], train[test])
        paths.append(path)
        held_out.append(scores.reshape(-1, len(path.alphas)))
    labels = np.tile(y[train], len(draws))
    return Candidates(loss, train, tuple(l1_ratios), paths, held_out, labels)
