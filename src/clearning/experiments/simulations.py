"""The two simulations: seven ways to a class probability, one replication at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clearning.calibration import CoherenceCalibrator, PlattCalibrator, SollichCalibrator
from clearning.datasets import make_simulation
from clearning.experiments.protocol import Protocol
from clearning.experiments.results import Task
from clearning.experiments.selection import (
    Array,
    Candidates,
    Fold,
    KernelDesign,
    Rows,
    cross_validate,
    make_folds,
)
from clearning.kernels import Kernel, kernel_width
from clearning.losses import make_loss
from clearning.metrics import cross_entropy, generalized_kl

LINK = "SVM with the coherence link"
WSL_LEVELS = 20  # steps of π from 0 to 1


def simulation_tasks(protocol: Protocol) -> list[Task]:
    """Return the tasks: every replication of both simulations."""
    return [
        Task(f"simulation/{number}/{replication:03d}", replicate, (protocol, number, replication))
        for number in (1, 2)
        for replication in range(protocol.n_replications)
    ]


def replicate(protocol: Protocol, number: int, replication: int) -> dict[str, Any]:
    """Return every method's cross-entropy and error on one draw: 100 samples train, 900 test."""
    rng = protocol.generator("simulation", number, replication)
    seed = int(rng.integers(2**31))
    X, labels, eta = make_simulation(number, n_samples=1000, random_state=seed)
    y = labels.astype(float)
    order = rng.permutation(len(y))
    train, test = order[:100], order[100:]
    gamma = kernel_width("median", X[train], y[train])
    design = KernelDesign(Kernel("rbf", gamma=gamma).gram(X))
    draws = make_folds(y[train], protocol, rng)
    replication_ = Replication(protocol, design, y, eta, train, test, draws)
    return {
        "truth": replication_.judge(eta[test]),
        "PLR": replication_.own_probabilities("logistic", (0.0,)),
        "C-learning": replication_.own_probabilities("coherence", protocol.l1_ratios),
        **svm_methods(replication_),
    }


@dataclass(frozen=True)
class Replication:
    """One draw of a simulation, split and folded."""

    protocol: Protocol
    design: KernelDesign
    y: Array
    eta: Array
    train: Rows
    test: Rows
    draws: list[list[Fold]]

    def judge(self, probabilities: Array, **extra: Any) -> dict[str, Any]:
        """Measure test probabilities against the labels and against the truth."""
        y = self.y[self.test]
        return {
            "gkl": cross_entropy(y, probabilities),
            "divergence": generalized_kl(self.eta[self.test], probabilities),
            "cer": float(np.mean((probabilities > 0.5) != (y > 0))),
            **extra,
        }

    def candidates(self, loss: str, l1_ratios: tuple[float, ...]) -> Candidates:
        return cross_validate(
            self.design, self.y, self.train, self.draws, make_loss(loss), l1_ratios, self.protocol
        )

    def own_probabilities(self, loss: str, l1_ratios: tuple[float, ...]) -> dict[str, Any]:
        """Judge a method by its loss's own link; γ and ω have the least held-out cross-entropy."""
        candidates = self.candidates(loss, l1_ratios)
        link = candidates.loss.inverse_link
        k, i = candidates.best(candidates.criterion(lambda y, f: pointwise_entropy(y, link(f))))
        path = candidates.paths[k]
        probabilities = link(self.design.scores(path, self.train, self.test)[:, i])
        return self.judge(
            probabilities,
            l1_ratio=l1_ratios[k],
            alpha=float(path.alphas[i]),
            n_nonzero=int(np.count_nonzero(path.coefs[i])),
            least_gkl=self._least_test_entropy(candidates),
        )

    def _least_test_entropy(self, candidates: Candidates) -> float:
        """The cross-entropy of the best γ and ω in hindsight: no method, but a bound on all."""
        y, link = self.y[self.test][:, None], candidates.loss.inverse_link
        scores = [self.design.scores(path, self.train, self.test) for path in candidates.paths]
        return float(min(pointwise_entropy(y, link(f)).mean(axis=0).min() for f in scores))


def pointwise_entropy(y: Array, probabilities: Array) -> Array:
    """−log of the probability given to the label that came true."""
    with np.errstate(divide="ignore"):
        return -np.log(np.where(y > 0, probabilities, 1 - probabilities))


def svm_methods(replication: Replication) -> dict[str, Any]:
    """Judge the methods that start from an SVM's scores.

    Platt, Sollich and the coherence link share one SVM, whose γ has the least held-out error (ties:
    the least held-out hinge loss); they are fitted to its training scores, as in the paper. Tuned
    Platt and WSL choose γ by the held-out cross-entropy of their own probabilities.
    """
    svm = replication.candidates("hinge", (0.0,))
    path, train, y = svm.paths[0], replication.train, replication.y[replication.train]
    training = replication.design.scores(path, train, train)
    test = replication.design.scores(path, train, replication.test)
    _, chosen = svm.best(svm.errors(), svm.losses())
    tuned = _least_entropy(replication, path.alphas, _platt_on_fold)
    outcome = {"tuned Platt": (tuned, platt(training[:, tuned], y)(test[:, tuned]))}
    for name, calibrate in {"Platt": platt, "Sollich": sollich, LINK: coherence}.items():
        outcome[name] = (chosen, calibrate(training[:, chosen], y)(test[:, chosen]))
    wsl = _least_entropy(replication, path.alphas, weighted_probabilities)
    weighted = weighted_probabilities(
        replication, train, replication.test, path.alphas[wsl : wsl + 1]
    )
    outcome["WSL"] = (wsl, weighted[:, 0])
    judged = {
        name: replication.judge(probabilities, alpha=float(path.alphas[i]))
        for name, (i, probabilities) in outcome.items()
    }
    judged[LINK]["rho"] = fit_coherence(training[:, chosen], y).rho_
    return judged


def platt(scores: Array, y: Array) -> Callable[[Array], Array]:
    """Platt's sigmoid, fitted to smoothed targets as he proposed."""
    fitted = PlattCalibrator().fit(scores, y)
    return lambda f: fitted.predict_proba(f)[:, 1]


def sollich(scores: Array, y: Array) -> Callable[[Array], Array]:
    """Sollich's fixed formula."""
    fitted = SollichCalibrator().fit(scores, y)
    return lambda f: fitted.predict_proba(f)[:, 1]


def coherence(scores: Array, y: Array) -> Callable[[Array], Array]:
    """The coherence function's inverse link at u = 1, ρ fitted to the labels: Section 3.5."""
    fitted = fit_coherence(scores, y)
    return lambda f: fitted.predict_proba(f)[:, 1]


def fit_coherence(scores: Array, y: Array) -> CoherenceCalibrator:
    """Fit ρ by the empirical cross-entropy, as in equation (13) of the paper."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return CoherenceCalibrator(u=1.0, smooth=False).fit(scores, y)


def _platt_on_fold(replication: Replication, fit: Rows, rows: Rows, alphas: Array) -> Array:
    path = replication.design.fit(fit, replication.y, **_svm(replication, alphas))
    training = replication.design.scores(path, fit, fit)
    scores = replication.design.scores(path, fit, rows)
    maps = [platt(column, replication.y[fit]) for column in training.T]
    return np.column_stack([to_probability(f) for to_probability, f in zip(maps, scores.T)])


def weighted_probabilities(replication: Replication, fit: Rows, rows: Rows, alphas: Array) -> Array:
    """Wang, Shen and Liu's probabilities from weighted SVMs, a column for each γ.

    For π_j = j/m the SVM is fitted with weight 1 − π_j on class +1 and π_j on class −1. Where the
    score changes sign from + to −, between the largest π_j with f > 0 and the smallest with f < 0,
    lies the estimate.
    """
    y = replication.y[fit]
    levels = np.arange(1, WSL_LEVELS) / WSL_LEVELS
    highest = np.zeros((len(rows), len(alphas)))
    lowest = np.ones_like(highest)
    for level in levels:
        weight = np.where(y > 0, 1 - level, level)
        # The solver scales weights to sum to n; dividing γ by the same factor undoes it.
        options = _svm(replication, alphas / weight.mean())
        path = replication.design.fit(fit, replication.y, sample_weight=weight, **options)
        positive = replication.design.scores(path, fit, rows) > 0
        highest = np.where(positive, level, highest)
        lowest = np.where(positive | (lowest < level), lowest, level)
    return (highest + lowest) / 2


def _svm(replication: Replication, alphas: Array) -> dict[str, Any]:
    options = {"alphas": alphas, "tol": replication.protocol.tol}
    return {"loss": make_loss("hinge"), "l1_ratio": 0.0, **options}


def _least_entropy(replication: Replication, alphas: Array, probabilities: FoldMethod) -> int:
    """Return the γ with the least held-out cross-entropy of a method's probabilities."""
    train, total = replication.train, np.zeros(len(alphas))
    for folds in replication.draws:
        for fit, held_out in folds:
            p = probabilities(replication, train[fit], train[held_out], alphas)
            y = replication.y[train[held_out]][:, None]
            total += pointwise_entropy(y, p).sum(axis=0)
    return int(np.argmin(total))


# Probabilities of some rows, a column for each γ, from a fit to other rows.
FoldMethod = Callable[[Replication, Rows, Rows, Array], Array]
