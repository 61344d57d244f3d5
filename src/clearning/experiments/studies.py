"""What the figures show: how the objective falls, and how sparse the solutions are."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearning.experiments.algorithm1 import algorithm1
from clearning.experiments.protocol import Protocol
from clearning.experiments.results import Task
from clearning.experiments.selection import Design, FeatureDesign, KernelDesign
from clearning.experiments.sets import SETTINGS, load, make_design

# The paper shows the first; the second is of another kind: few samples, thousands of features.
STUDIED = ("1 vs 7", "leukemia")
STUDIED_RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
# Penalty of the convergence study: ω, and γ as a share of the smallest γ without coefficients.
CONVERGENCE_RATIO, CONVERGENCE_SHARE = 0.5, 0.1
# Samples of each class in the convergence study; plain coordinate descent takes its time.
CONVERGENCE_SAMPLES = 50
MAX_ITERATIONS = 15


def study_tasks(protocol: Protocol, names: tuple[str, ...]) -> list[Task]:
    """Return the tasks behind the figures, for those of the two sets that are at hand."""
    return [
        Task(f"{study.__name__}/{setting}/{name}", study, (protocol, setting, name))
        for study in (convergence, sparseness)
        for setting in SETTINGS
        for name in STUDIED
        if name in names
    ]


def convergence(protocol: Protocol, setting: str, name: str) -> dict[str, Any]:
    """Return the objective after every outer and inner iteration, plain and fast."""
    design, y = _whole(setting, name)
    rows = _first_of_each_class(y, CONVERGENCE_SAMPLES)
    kernel = setting == "kernels"
    A = _matrix(design)[rows][:, rows] if kernel else _matrix(design)[rows]
    largest = design.fit(rows, y, alphas=1, l1_ratio=CONVERGENCE_RATIO).alphas[0]
    alpha = float(CONVERGENCE_SHARE * largest)
    plain = algorithm1(
        A,
        y[rows],
        kernel=kernel,
        alpha=alpha,
        l1_ratio=CONVERGENCE_RATIO,
        tol_outer=protocol.study_tol,
        tol_inner=protocol.study_tol,
    )
    options = {"alphas": [alpha], "l1_ratio": CONVERGENCE_RATIO, "tol": 1e-12}
    best = design.fit(rows, y, **options)
    n_iterations = min(int(best.n_iters[0]), MAX_ITERATIONS)
    fast = [design.fit(rows, y, max_iter=k, **options) for k in range(1, n_iterations + 1)]
    return {
        "alpha": alpha,
        "l1_ratio": CONVERGENCE_RATIO,
        "outer": plain.outer_objectives,
        "inner": plain.inner_objectives,
        "fast": [plain.outer_objectives[0], *(float(path.objectives[0]) for path in fast)],
        "optimum": float(best.objectives[0]),
        "gap": float(best.dual_gaps[0]),
    }


def sparseness(protocol: Protocol, setting: str, name: str) -> dict[str, Any]:
    """Return the number of features or support vectors over γ for several ω, on a whole set."""
    design, y = _whole(setting, name)
    curves = []
    for l1_ratio in STUDIED_RATIOS:
        path = design.fit(np.arange(len(y)), y, alphas=60, alpha_min_ratio=1e-3, l1_ratio=l1_ratio)
        curves.append(
            {
                "l1_ratio": l1_ratio,
                "alphas": path.alphas.tolist(),
                "n_nonzero": path.n_nonzero.tolist(),
            }
        )
    return {"n_coefficients": _matrix(design).shape[1], "curves": curves}


def _whole(setting: str, name: str) -> tuple[Design, np.ndarray]:
    X, y = load(name)
    return make_design(setting, X, y, np.arange(len(y))), y


def _first_of_each_class(y: np.ndarray, count: int) -> np.ndarray:
    return np.sort(np.concatenate([np.flatnonzero(y == label)[:count] for label in (-1, 1)]))


def _matrix(design: Design) -> np.ndarray:
    if isinstance(design, FeatureDesign):
        return design.X
    assert isinstance(design, KernelDesign)
    return design.K
