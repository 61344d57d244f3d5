"""What the paper prints in Section 5: data sets, tables and ranges, to set beside our numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clearning import datasets

# Loss of each classification method, by the paper's name for the method.
METHODS = {"HHSVM": "huberized_hinge", "RLRM": "logistic", "C-learning": "coherence"}


@dataclass(frozen=True)
class Benchmark:
    """One of the eleven sets: how to load it and how many of its samples train."""

    name: str
    load: Callable[[], tuple[NDArray[np.float64], NDArray[np.int64]]]
    n_samples: int
    n_features: int
    fraction: float

    @property
    def n_train(self) -> int:
        return round(self.fraction * self.n_samples)


def _colon() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The colon data with every sample standardised, as the recipe for leukemia has it."""
    X, y = datasets.load_colon()
    centred = X - X.mean(axis=1, keepdims=True)
    return centred / X.std(axis=1, ddof=1, keepdims=True), y


def _pair(first: int, second: int) -> Benchmark:
    load = partial(datasets.load_usps_pair, first, second)
    return Benchmark(f"{first} vs {second}", load, 400, 256, 0.03)


PAIRS = ((1, 7), (2, 3), (2, 7), (3, 8), (4, 7), (6, 9))
BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        *(_pair(first, second) for first, second in PAIRS),
        Benchmark("odd vs even", datasets.load_usps_odd_even, 800, 256, 0.03),
        Benchmark("g241c", datasets.load_g241c, 1500, 241, 0.10),
        Benchmark("g241d", datasets.load_g241d, 1500, 241, 0.10),
        Benchmark("colon", _colon, 62, 2000, 0.258),
        Benchmark("leukemia", datasets.load_leukemia, 72, 3571, 0.278),
    )
}

PAPER_SETS = tuple(BENCHMARKS)


def _generated() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y, _ = datasets.make_g241c(random_state=0)
    return X, y


# Not in the paper: the gene sets with the printed share for testing instead of training, and a set
# drawn like g241c, whose log-odds are linear in the inputs by construction.
SWAPPED = {"colon": "colon, 46 train", "leukemia": "leukemia, 52 train"}
GENERATED = "like g241c"
for _name, _swapped in SWAPPED.items():
    _set = BENCHMARKS[_name]
    BENCHMARKS[_swapped] = replace(_set, name=_swapped, fraction=1 - _set.fraction)
BENCHMARKS[GENERATED] = replace(BENCHMARKS["g241c"], name=GENERATED, load=_generated)

# Mean error and deviation in per cent: HHSVM, RLRM, C-learning.
_FEATURES = """
1 vs 7       2.29 1.17   2.06 1.21   1.60 0.93
2 vs 3       8.13 2.02   8.29 2.76   8.32 2.73
2 vs 7       5.82 2.59   6.04 2.60   5.64 2.44
3 vs 8      12.46 2.90  10.77 2.72  11.74 2.83
4 vs 7       7.35 2.89   6.91 2.72   6.68 3.53
6 vs 9       2.32 1.65   2.15 1.43   2.09 1.41
odd vs even 20.94 2.02  19.83 2.82  19.74 2.81
g241c       22.30 1.30  21.38 1.12  21.34 1.11
g241d       24.32 1.53  23.81 1.65  23.85 1.69
colon       14.57 1.86  14.47 2.02  12.34 1.48
leukemia     4.06 2.31   4.43 1.65   3.21 1.08
"""
_KERNELS = """
1 vs 7       1.73  1.64   1.39 0.64   1.37 0.65
2 vs 3       8.55  3.36   8.45 3.38   8.00 3.32
2 vs 7       5.09  2.10   4.02 1.81   3.90 1.79
3 vs 8      12.09  3.78  10.58 3.50  10.36 3.52
4 vs 7       6.74  3.39   6.92 3.37   6.55 3.28
6 vs 9       2.12  0.91   1.74 1.04   1.65 0.99
odd vs even 28.38 10.51  26.92 6.52  26.29 6.45
g241c       21.38  1.45  21.55 1.42  21.62 1.35
g241d       25.89  2.15  22.34 1.27  20.37 1.20
colon       14.26  2.66  14.79 2.80  13.94 2.44
leukemia     2.77  0.97   2.74 0.96   2.55 0.92
"""


def _error_table(text: str) -> dict[str, dict[str, tuple[float, float]]]:
    table = {}
    for line in text.strip().splitlines():
        name = next(name for name in PAPER_SETS if line.startswith(name))
        numbers = [float(word) for word in line[len(name) :].split()]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        table[name] = dict(zip(METHODS, pairs, strict=True))
    return table


ERRORS = {"features": _error_table(_FEATURES), "kernels": _error_table(_KERNELS)}

for _table in ERRORS.values():
    _table |= {swapped: _table[name] for name, swapped in SWAPPED.items()}
    _table[GENERATED] = _table["g241c"]

LINK = "SVM with the coherence link"
# Tables of the simulations: cross-entropy ("GKL") and classification error rate ("CER").
GKL = {
    1: {
        "PLR": (0.579, 0.0021),
        "Platt": (0.582, 0.0035),
        "tuned Platt": (0.569, 0.0015),
        "WSL": (0.566, 0.0014),
        "Sollich": (0.566, 0.0021),
        LINK: (0.558, 0.0015),
        "C-learning": (0.549, 0.0016),
    },
    2: {
        "PLR": (0.138, 0.0024),
        "Platt": (0.163, 0.0018),
        "tuned Platt": (0.153, 0.0013),
        "WSL": (0.153, 0.0010),
        "Sollich": (0.155, 0.0017),
        LINK: (0.142, 0.0016),
        "C-learning": (0.134, 0.0014),
    },
}
CER = {
    1: {
        "PLR": (0.258, 0.0053),
        "Platt": (0.234, 0.0026),
        "WSL": (0.217, 0.0021),
        LINK: (0.219, 0.0021),
        "C-learning": (0.214, 0.0015),
    },
    2: {
        "PLR": (0.075, 0.0018),
        "Platt": (0.077, 0.0024),
        "WSL": (0.069, 0.0014),
        LINK: (0.065, 0.0015),
        "C-learning": (0.061, 0.0019),
    },
}
PROBABILITY_METHODS = tuple(GKL[1])
# One more that the paper does not have: the link's u is fitted along with its ρ.
LINK_BOTH = "SVM, link with u fitted too"
OUR_METHODS = (*PROBABILITY_METHODS[:-1], LINK_BOTH, PROBABILITY_METHODS[-1])
RHO_RANGE = {1: (0.3402, 0.8773), 2: (0.1077, 1.3166)}
