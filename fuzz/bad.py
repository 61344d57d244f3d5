"""Bad input: what is wrong, as a statement on the arguments, and the words that must name it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from problems import Problem, Rng, pick

LINEAR = ("linear_path", "linear")
PATHS = ("linear_path", "kernel_path")
KERNEL = ("kernel_path",)
BOTH = (*LINEAR, *KERNEL, "kernel")


class Bad(NamedTuple):
    """A statement that spoils the input of some kinds, and words of which a message must hold one.

    What spoils a loss's parameter sets the loss that has it.
    """

    kinds: tuple[str, ...]
    code: str
    names: tuple[str, ...]


def _option(name: str, values: str, kinds: tuple[str, ...] = BOTH, also: str = "") -> list[Bad]:
    return [
        Bad(kinds, f"options[{name!r}] = {value}{also}", (name,)) for value in values.split(" | ")
    ]


def _given(name: str, values: str) -> list[Bad]:
    words = (name, name.replace("_", " "), name.replace("_", " ").capitalize(), "NaN", "infinity")
    return [Bad(BOTH, f"given[{name!r}] = {value}", words) for value in values.split(" | ")]


_COHERENCE = "; options['loss'] = 'coherence'"
_HUBER = "; options['loss'] = 'huberized_hinge'"

_ENTRIES = [
    Bad(BOTH, "X = np.array(X, float); X[0, 0] = np.nan", ("X", "K", "NaN")),
    Bad(BOTH, "X = np.array(X, float); X[-1, -1] = np.inf", ("X", "K", "infinity")),
    Bad(BOTH, "X = np.array(X, float)[:0]", ("sample", "X", "K")),
    Bad(BOTH, "X = np.array(X, float)[0]", ("X", "K", "2D", "1D")),
    Bad(BOTH, "X = np.array(X, float) + 1j", ("omplex",)),
    Bad(LINEAR, "X = X[:, :0]", ("feature",)),
    Bad(BOTH, "y = y[:-1]", ("y", "samples", "inconsistent")),
    Bad(BOTH, "y = y[:1].repeat(len(y))", ("class",)),
    Bad(BOTH, "y = np.linspace(0.1, 0.9, len(y)) ** 2", ("y", "label", "target", "class")),
    Bad(BOTH, "y = y[:, None] * np.ones(2) if y.dtype.kind in 'if' else None", ("y", "shape")),
    Bad(BOTH, "y = np.where(np.arange(len(y)) == 0, np.nan, 1.0)", ("y", "NaN")),
    *_given(
        "sample_weight",
        "np.full(len(y), np.nan) | np.nan | np.full(len(y), np.inf) | -np.ones(len(y)) | "
        "np.ones(len(y) + 1) | np.zeros(len(y)) | np.ones((len(y), 2)) | 'x' | np.inf | -1.0",
    ),
    *_given("offset", "np.full(len(y), np.nan) | np.inf | np.ones(len(y) + 1) | 'x'"),
    *_option(
        "penalty_factor",
        "[-1.0] * X.shape[1] | [np.nan] * X.shape[1] | [1.0] * (X.shape[1] + 1) | 'x'",
        LINEAR,
    ),
    *_option("bounds", "(1, 2) | (-2, -1) | (np.nan, 1) | (0, 1, 2) | 'x' | 3", LINEAR),
    *_option("coef_init", "[np.nan] * X.shape[1] | [1.0] * (X.shape[1] + 1) | 'x'", PATHS),
    *_option("intercept_init", "np.nan | np.inf | 'x'", PATHS),
    *_option(
        "intercept_init",
        "np.nan | -np.inf",
        PATHS,
        "; options['coef_init'] = np.zeros(np.shape(X)[1])",
    ),
    *_option("alphas", "[] | [np.nan] | [-1.0] | [0.0] | [[0.1], [0.2]] | 0 | 'x' | None", PATHS),
    *_option("alphas", "[[0.1, 0.2], [0.3, 0.4]] | [np.inf] | -3", PATHS),
    *_option("alpha", "0.0 | -1.0 | np.nan | np.inf | 'x' | None", ("linear", "kernel")),
    *_option("l1_ratio", "-0.1 | 1.1 | np.nan | 'x' | None | [0.5, 0.5]"),
    *_option("rho", "0.0 | -1.0 | np.nan | np.inf | 'x'", BOTH, _COHERENCE),
    *_option("u", "-1.0 | np.nan | np.inf | 'x'", BOTH, _COHERENCE),
    *_option("delta", "0.0 | -1.0 | np.nan | 'x'", BOTH, _HUBER),
    *_option("tol", "0.0 | -1.0 | np.nan | 'x'"),
    *_option("max_iter", "0 | -1 | 1.5 | 'x' | None"),
    *_option("fit_intercept", "'no' | None | 2.5"),
    *_option("loss", "'hing' | 3 | None"),
    *_option("class_weight", "'even' | {0: np.nan, 1: 1.0} | 3"),
    *_option("standardize", "'no' | 2.5", LINEAR),
    Bad(
        LINEAR,
        "X = sparse.csc_array(np.array(X, float) + 1); X.indices[0] = 10**6",
        ("X", "ind", "sparse"),
    ),
    Bad(
        LINEAR,
        "X = sparse.csc_array(np.array(X, float) + 1); X.indptr[-1] = 10**6",
        ("X", "ind", "sparse"),
    ),
    Bad(KERNEL, "X = -np.array(X) - np.eye(len(X), np.shape(X)[1])", ("K",)),
    Bad(KERNEL, "X = np.array(X) - 2 * np.abs(X).max() * np.eye(*np.shape(X))", ("K",)),
    Bad(KERNEL, "X = np.array(X); X[0, 1] += 0.5 * (1 + np.abs(X).max())", ("K",)),
    Bad(KERNEL, "X = np.array(X)[:, :-1]", ("K", "penalty_kernel")),
    Bad(KERNEL, "given['penalty_kernel'] = -np.eye(np.shape(X)[1])", ("penalty_kernel",)),
    Bad(
        KERNEL,
        "given['penalty_kernel'] = np.triu(np.ones((np.shape(X)[1],) * 2))",
        ("penalty_kernel",),
    ),
    Bad(KERNEL, "given['penalty_kernel'] = np.eye(np.shape(X)[1] + 1)", ("penalty_kernel",)),
]
BAD = {f"{entry.code} [{' '.join(entry.kinds)}]": entry for entry in _ENTRIES}


def spoil(rng: Rng, problem: Problem) -> Problem:
    """Put one thing wrong with the input, where there is something for its kind.

    A spoilt problem is stored plainly and large enough for every statement.
    """
    fitting = [name for name, entry in BAD.items() if problem.kind in entry.kinds]
    if not fitting or len(problem.X) < 4 or problem.square is not None:
        return problem
    signs = np.where(np.arange(len(problem.X)) % 2 == 0, 1.0, -1.0)
    return replace(
        problem,
        signs=signs,
        labels=(0, 1),
        storage=(),
        rows={},
        columns={},
        options={name: v for name, v in problem.options.items() if name != "max_iter"},
        refusable=False,
        spoil=pick(rng, fitting),
    )
