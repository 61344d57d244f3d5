"""The experimental protocol: what the paper fixes, and what it leaves open, chosen once for all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace

import numpy as np

from clearning import __version__
from clearning.experiments.paper import GENERATED, PAPER_SETS, SWAPPED


@dataclass(frozen=True)
class Protocol:
    """Every number that shapes the experiments.

    The paper fixes `n_replications`, `n_partitions`, ρ = 1, u = 1, the training sizes and the rule
    for the kernel's width. Open are the grids of γ and ω, the folds and the selection rule; they
    are the same for every method.

    Attributes
    ----------
    n_replications, n_partitions
        Repetitions of the simulations and of the eleven sets.
    sets, supplement
        Names of the paper's sets, and of others that help to explain their results.
    n_folds, n_repeats
        Stratified folds of every cross-validation, and how often they are drawn anew. A class with
        fewer samples than folds gets as many folds as it has samples.
    l1_ratios
        Grid of ω for the elastic-net methods.
    n_alphas, alpha_min_ratio, simulation_alpha_min_ratio
        Grid of γ for each ω: log-spaced from the smallest γ that leaves no coefficient at that ω
        down to so small a share of the one at ω = 1, the same floor for every ω. A kernel in two
        dimensions needs the lower floor.
    tol
        Duality gap of every fit, relative to the null model's objective.
    study_tol
        The paper's ε_m = ε_i, for Algorithm 1 in the convergence study.
    seed
        Seed of every random choice.
    """

    n_replications: int = 100
    n_partitions: int = 20
    sets: tuple[str, ...] = PAPER_SETS
    supplement: tuple[str, ...] = (*SWAPPED.values(), GENERATED)
    n_folds: int = 5
    n_repeats: int = 3
    l1_ratios: tuple[float, ...] = (0.01, 0.03, 0.1)
    n_alphas: int = 25
    alpha_min_ratio: float = 1e-3
    simulation_alpha_min_ratio: float = 1e-4
    tol: float = 1e-5
    study_tol: float = 1e-5
    seed: int = 2012

    def generator(self, *words: str | int) -> np.random.Generator:
        """Return a generator that depends on the seed and the words alone, not on who asks when."""
        text = json.dumps([self.seed, *words]).encode()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))

    def floor(self, l1_ratio: float) -> float:
        """Return smallest over largest γ at this ω; at ω < 0.001 the largest is that of 0.001."""
        return self.alpha_min_ratio * max(l1_ratio, 1e-3)

    def fingerprint(self) -> str:
        """Return a short name for what a task depends on; results of others are kept apart.

        How many tasks there are is no part of it: a longer run takes over a shorter one's results.
        """
        settings = {key: value for key, value in asdict(self).items() if key not in _EXTENT}
        text = json.dumps([__version__, _SCHEMA, settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


_EXTENT = ("n_replications", "n_partitions", "sets", "supplement")
# Raised when a task computes something new from the same protocol.
_SCHEMA = 2

FULL = Protocol()
QUICK = replace(
    FULL,
    n_replications=5,
    n_partitions=4,
    sets=("1 vs 7", "3 vs 8", "odd vs even", "colon", "leukemia"),
    supplement=(),
    n_repeats=1,
    n_alphas=15,
    study_tol=1e-3,
)
