"""The two simulations: seven ways to a class probability, one replication at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearning.datasets import make_simulation
from clearning.experiments.protocol import Protocol
from clearning.experiments.replication import Replication, pointwise_entropy
from clearning.experiments.results import Task
from clearning.experiments.selection import Candidates, KernelDesign, cross_validate, make_folds
from clearning.experiments.svm_probabilities import svm_methods
from clearning.kernels import Kernel, kernel_width
from clearning.losses import make_loss

# What could have been otherwise in the paper: tried on some replications of the first simulation.
VARIANTS: dict[str, dict[str, Any]] = {
    "as described": {},
    "σ halved": {"width": 0.5},
    "σ doubled": {"width": 2.0},
    "200 training samples": {"n_train": 200},
}
MAX_VARIED = 20


def simulation_tasks(protocol: Protocol) -> list[Task]:
    """Return the tasks: every replication of both simulations, and the first one's variants."""
    main = [
        Task(f"simulation/{number}/{replication:03d}", replicate, (protocol, number, replication))
        for number in (1, 2)
        for replication in range(protocol.n_replications)
    ]
    return main + [
        Task(f"variants/1/{replication:03d}", vary, (protocol, 1, replication))
        for replication in range(min(MAX_VARIED, protocol.n_replications))
    ]


def replicate(protocol: Protocol, number: int, replication: int) -> dict[str, Any]:
    """Return every method's cross-entropy and error on one draw: 100 samples train, 900 test."""
    drawn = draw(protocol, number, replication)
    return {
        "truth": drawn.judge(drawn.eta[drawn.test]),
        "PLR": own_probabilities(drawn, "logistic", (0.0,)),
        "C-learning": own_probabilities(drawn, "coherence", protocol.l1_ratios),
        **svm_methods(drawn),
    }


def vary(protocol: Protocol, number: int, replication: int) -> dict[str, Any]:
    """Return C-learning's cross-entropy and error on one draw under each of `VARIANTS`.

    One draw of the folds and one ω: the variants are compared with each other alone.
    """
    once = replace(protocol, n_repeats=1)
    ratios = protocol.l1_ratios[:1]
    return {
        name: own_probabilities(draw(once, number, replication, **changes), "coherence", ratios)
        for name, changes in VARIANTS.items()
    }


def draw(
    protocol: Protocol, number: int, replication: int, n_train: int = 100, width: float = 1.0
) -> Replication:
    """Draw 1000 samples, of which some train; σ is `width` times the median distance."""
    rng = protocol.generator("simulation", number, replication)
    seed = int(rng.integers(2**31))
    X, labels, eta = make_simulation(number, n_samples=1000, random_state=seed)
    y = labels.astype(float)
    order = rng.permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    gamma = kernel_width("median", X[train], y[train]) / width**2
    design = KernelDesign(Kernel("rbf", gamma=gamma).gram(X))
    draws = make_folds(y[train], protocol, rng)
    finer = replace(protocol, alpha_min_ratio=protocol.simulation_alpha_min_ratio)
    return Replication(finer, design, y, eta, train, test, draws)


def own_probabilities(
    drawn: Replication, loss: str, l1_ratios: tuple[float, ...]
) -> dict[str, Any]:
    """Judge a method by its loss's own link; γ and ω have the least held-out cross-entropy."""
    candidates = cross_validate(
        drawn.design, drawn.y, drawn.train, drawn.draws, make_loss(loss), l1_ratios, drawn.protocol
    )
    link = candidates.loss.inverse_link
    k, i = candidates.best(candidates.criterion(lambda y, f: pointwise_entropy(y, link(f))))
    path = candidates.paths[k]
    probabilities = link(drawn.design.scores(path, drawn.train, drawn.test)[:, i])
    return drawn.judge(
        probabilities,
        l1_ratio=l1_ratios[k],
        alpha=float(path.alphas[i]),
        n_nonzero=int(np.count_nonzero(path.coefs[i])),
        hindsight=_hindsight(drawn, candidates),
    )


def _hindsight(drawn: Replication, candidates: Candidates) -> dict[str, float]:
    """The least cross-entropy and the least error over all γ and ω, chosen on the test labels.

    No method, but a bound on what any choice of γ and ω could have reached.
    """
    y, link = drawn.y[drawn.test][:, None], candidates.loss.inverse_link
    scores = np.hstack(
        [drawn.design.scores(path, drawn.train, drawn.test) for path in candidates.paths]
    )
    return {
        "gkl": float(pointwise_entropy(y, link(scores)).mean(axis=0).min()),
        "cer": float(np.mean(y * scores <= 0, axis=0).min()),
    }
