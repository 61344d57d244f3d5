"""The problems that the defaults are chosen on: none of them is among those they are judged by.

Seven real sets as they come, smaller samples of them and some with few positives, and simulated
problems of the kinds that real data come in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from kernel_quality.sets import Split
from quality.sets import CHOSEN, RARE, SETS, DataSet, _scaled, rare
from sklearn.model_selection import StratifiedShuffleSplit

from defaults import simulated
from defaults.simulated import Maker

N_TRAIN, N_TEST, N_SMALL = 300, 2000, 100
# Not the seed of the splits that are judged.
SEED = 7


@dataclass(frozen=True)
class Problem:
    """Splits into training and test samples, by their number."""

    split: Callable[[int], Split]
    needs_data: bool = False


def real(name: str, n_train: int = N_TRAIN, *, few_positives: bool = False) -> Problem:
    """A set of the quality study on which nothing is judged."""
    source: DataSet = SETS[name]
    if source.use != CHOSEN:
        raise ValueError(f"{name} is judged by, and must not be chosen on")
    load = rare(source.load) if few_positives else source.load

    def split(number: int) -> Split:
        X, y = load()
        size = min(n_train, int(0.65 * len(y)))
        splitter = StratifiedShuffleSplit(
            number + 1,
            train_size=size,
            test_size=min(N_TEST, len(y) - size),
            random_state=SEED,
        )
        *_, (train, test) = splitter.split(X, y)
        return Split(*_scaled(X[train], X[test], y[train], y[test]))

    return Problem(split, source.shared)


def simulation(make: Maker, n_train: int = N_TRAIN, *, few_positives: bool = False) -> Problem:
    """A simulated problem, drawn anew for each number."""

    def draw(rng: np.random.Generator, n: int) -> tuple:
        if not few_positives:
            return make(rng, n)
        X, y = make(rng, 3 * n)
        n_positive = round(RARE * n)
        rows = np.concatenate(
            [np.flatnonzero(y == 0)[: n - n_positive], np.flatnonzero(y == 1)[:n_positive]]
        )
        return X[rows], y[rows]

    def split(number: int) -> Split:
        rng = np.random.default_rng([SEED, number])
        (X, y), (X_test, y_test) = draw(rng, n_train), draw(rng, N_TEST)
        return Split(*_scaled(X, X_test, y, y_test))

    return Problem(split)


CHOSEN_SETS = [name for name, each in SETS.items() if each.use == CHOSEN]
SMALLER = ("breast_cancer", "german_numer", "saheart", "ssl_g241c", "sylva_train", "a9a")
FEW_POSITIVES = ("breast_cancer", "german_numer", "ssl_g241c", "a9a")
SIMULATED: dict[str, tuple[Maker, int]] = {
    "moons": (simulated.moons, 300),
    "circles": (simulated.circles, 300),
    "paper's first": (simulated.paper(1), 300),
    "paper's second": (simulated.paper(2), 300),
    "linear, 8": (simulated.linear(8, 1.5), 300),
    "linear, 60": (simulated.linear(60, 4.0), 300),
    "friedman": (simulated.friedman, 300),
    "friedman's ratio": (simulated.friedman_ratio, 300),
    "clusters, 5": (simulated.clusters(5, 0.6), 300),
    "clusters, 40": (simulated.clusters(40, 1.2), 300),
    "two clouds": (simulated.two_clouds, 70),
    "unequal spread": (simulated.unequal_spread, 120),
    "images, 3": (simulated.images(3, 0.5), 300),
    "images, 10": (simulated.images(10, 0.5), 300),
    "text, easy": (simulated.text(5000, 150, 1.0), 300),
    "text, hard": (simulated.text(8000, 25, 0.6), 300),
    "genes, few": (simulated.genes(3000, 20, 0.5), 50),
    "genes, many": (simulated.genes(8000, 300, 0.15), 130),
    "frequencies": (simulated.counted, 300),
    "answers": (simulated.indicators, 300),
    "folded": (simulated.folded, 300),
}
SIMULATED_FEW_POSITIVES = ("images, 10", "text, easy", "frequencies", "linear, 8", "clusters, 5")

PROBLEMS: dict[str, Problem] = {
    **{name: real(name) for name in CHOSEN_SETS},
    **{f"{name}, {N_SMALL}": real(name, N_SMALL) for name in SMALLER},
    **{f"{name}, rare": real(name, few_positives=True) for name in FEW_POSITIVES},
    **{name: simulation(make, n) for name, (make, n) in SIMULATED.items()},
    **{
        f"{name}, rare": simulation(SIMULATED[name][0], few_positives=True)
        for name in SIMULATED_FEW_POSITIVES
    },
}
