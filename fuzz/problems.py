"""What problems are made of: matrices, labels, options, and how they are handed over.

Values that belong to samples, to coefficients or to neither are kept apart, so that a problem can
be shrunk without knowing what it is about.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Rng = np.random.Generator

LOSSES = ("coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge")
KERNELS = ("rbf", "laplacian", "cosine", "poly", "polynomial", "linear", "precomputed")
LABELS = ((0, 1), (-1, 1), ("no", "yes"), (False, True), (1.0, 2.0), (10**15, 10**15 + 1), (-7, 3))

# How a matrix is handed over: statements on X, run by the fuzzer and printed in a reproduction.
STORAGE = {
    "float32": "X = X.astype(np.float32)",
    "int64": "X = X.astype(np.int64)",
    "int8": "X = X.astype(np.int8)",
    "fortran": "X = np.asfortranarray(X)",
    "strided": "X = np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3]",
    "reversed": "X = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]",
    "read-only": "X = X.copy(); X.flags.writeable = False",
    "memmap": "M = np.memmap(tempfile.TemporaryFile(), X.dtype, 'w+', 0, X.shape); M[:] = X; X = M",
    "list": "X = X.tolist()",
    "csc": "X = sparse.csc_array(X)",
    "csr": "X = sparse.csr_array(X)",
    "coo": "X = sparse.coo_array(X)",
    "csr_matrix": "X = sparse.csr_matrix(X)",
    "long indices": (
        "X = sparse.csc_array(X); X.indices, X.indptr = "
        "X.indices.astype(np.int64), X.indptr.astype(np.int64)"
    ),
    "unsorted": (
        "C = sparse.csr_array(X[:, ::-1]); "
        "X = sparse.csr_array((C.data, C.shape[1] - 1 - C.indices, C.indptr), C.shape)"
    ),
    "duplicates": (
        "C = sparse.csc_array(X); X = sparse.csc_array("
        "(np.repeat(C.data / 2, 2), np.repeat(C.indices, 2), 2 * C.indptr), C.shape)"
    ),
}
DENSE = ("fortran", "strided", "reversed", "read-only", "memmap", "list")
SPARSE = ("csc", "csr", "coo", "csr_matrix", "long indices", "unsorted", "duplicates")


@dataclass(frozen=True)
class Problem:
    """One call of the package, as data.

    `signs` are numbers of classes where there are more than two labels. `X` holds a design, a
    kernel matrix or, for a calibrator, one column of scores; `rows` what belongs to samples,
    `columns` what belongs to coefficients, `square` the penalty's kernel. `spoil` names what is
    wrong with the input, if anything is; a `refusable` problem is so extreme that a clear refusal
    is as good as a right answer.
    """

    kind: str
    X: Array
    signs: Array
    labels: tuple[Any, ...] = (0, 1)
    storage: tuple[str, ...] = ()
    rows: dict[str, Array] = field(default_factory=dict)
    columns: dict[str, Array] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    square: Array | None = None
    spoil: str | None = None
    refusable: bool = False

    @property
    def y(self) -> NDArray[Any]:
        """The labels of the samples."""
        codes = self.signs > 0 if len(self.labels) == 2 else self.signs
        return np.array(self.labels)[codes.astype(int)]

    @property
    def family(self) -> str:
        """What the problem is counted among."""
        return self.kind if self.spoil is None else "bad input"

    @property
    def paired(self) -> bool:
        """Whether row i and column i of X belong to the same sample."""
        kernel = self.kind.startswith("kernel_") and self.kind.endswith("path")
        return (kernel and self.square is None) or self.options.get("kernel") == "precomputed"

    def keep_rows(self, rows: Array) -> Problem:
        columns = self.columns
        X = self.X[rows]
        if self.paired:
            X = X[:, rows]
            columns = {name: values[rows] for name, values in columns.items()}
        kept = {name: values[rows] for name, values in self.rows.items()}
        return replace(self, X=X, signs=self.signs[rows], rows=kept, columns=columns)

    def keep_columns(self, chosen: Array) -> Problem:
        kept = {name: values[chosen] for name, values in self.columns.items()}
        square = None if self.square is None else self.square[np.ix_(chosen, chosen)]
        return replace(self, X=self.X[:, chosen], columns=kept, square=square)


def handed_over(X: Array, storage: tuple[str, ...]) -> Any:
    """The matrix as the package gets it."""
    names = {"X": X.copy(), "np": np, "sparse": sparse, "tempfile": tempfile}
    exec("\n".join(STORAGE[step] for step in storage), names)
    return names["X"]


def chance(rng: Rng, share: float) -> bool:
    return bool(rng.random() < share)


def power(rng: Rng, low: float, high: float, size: Any = None) -> Any:
    """Ten to a uniform power."""
    drawn = 10.0 ** rng.uniform(low, high, size)
    return float(drawn) if size is None else drawn


def pick(rng: Rng, values: Any) -> Any:
    return values[rng.integers(len(values))]


def draw_shape(rng: Rng) -> tuple[int, int]:
    """Mostly tiny, so that many can be judged; sometimes wide or larger."""
    size = rng.random()
    if size < 0.8:
        return int(rng.integers(2, 21)), int(rng.integers(1, 11))
    if size < 0.88:
        return int(rng.integers(2, 16)), int(rng.integers(10, 160))
    if size < 0.995:
        return int(rng.integers(2, 61)), int(rng.integers(1, 81))
    return int(rng.integers(60, 200)), int(rng.integers(1, 200))


def draw_matrix(rng: Rng, n: int, p: int) -> Array:
    """A matrix of some kind, with columns that give trouble."""
    kind = rng.random()
    X = rng.standard_normal((n, p))
    if kind < 0.3:
        X = rng.integers(-2, 3, (n, p)).astype(float)
    elif kind < 0.38:
        X = X * (rng.random((n, p)) < pick(rng, (0.1, 0.3)))
    elif kind < 0.44:
        X = rng.standard_cauchy((n, p))
    elif kind < 0.5:
        X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    if chance(rng, 0.1):
        X = X[rng.integers(0, max(1, n // 2), n)]
    if chance(rng, 0.15):
        X = X[:, rng.integers(0, max(1, p // 2), p)]
    if chance(rng, 0.1):
        X[:, rng.integers(p)] = pick(rng, (0.0, 1.0, -3.0, 1e-3))
    if chance(rng, 0.08):
        X = X * power(rng, -12, 12, p)
    elif chance(rng, 0.15):
        X = X * power(rng, -3, 3, p)
    if chance(rng, 0.06):
        X = X * power(rng, -12, 12)
    if chance(rng, 0.15):
        X = X + pick(rng, (10.0, 1e3, 1e4, -1e4, 1e6)) * (rng.random(p) < pick(rng, (0.3, 1.0)))
    return X


def draw_signs(rng: Rng, X: Array) -> Array:
    """Two classes: random, of a line with or without noise, or with a single sample in one."""
    n = len(X)
    kind = rng.random()
    with np.errstate(all="ignore"):
        score = (X - X.mean(axis=0)) @ rng.standard_normal(X.shape[1])
    if kind < 0.15:
        signs = -np.ones(n)
    elif kind < 0.55:
        signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    else:
        noise = 0.0 if kind < 0.75 else float(np.std(score))
        signs = np.where(score + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    one = int(rng.integers(n))
    if (signs == signs[0]).all():
        signs[one] = -signs[one]
    return signs


def draw_loss(rng: Rng) -> dict[str, Any]:
    """A loss and its parameters."""
    name = LOSSES[rng.choice(5, p=[0.38, 0.1, 0.14, 0.14, 0.24])]
    options: dict[str, Any] = {"loss": name}
    if name == "coherence":
        if chance(rng, 0.6):
            options["rho"] = power(rng, -6, 3)
        if chance(rng, 0.3):
            options["u"] = power(rng, -3, 3)
    if name == "huberized_hinge" and chance(rng, 0.5):
        options["delta"] = power(rng, -3, 2)
    return options


def draw_l1_ratio(rng: Rng) -> float:
    return float(pick(rng, (0.0, 0.0, 1e-12, 0.5, 0.5, 1.0, 1.0, rng.random(), 1 - 1e-9)))


def draw_solver(rng: Rng) -> dict[str, Any]:
    """Tolerance, iterations and whether there is an intercept."""
    options: dict[str, Any] = {"l1_ratio": draw_l1_ratio(rng)}
    if chance(rng, 0.4):
        options["tol"] = power(rng, -10, -2)
    if chance(rng, 0.04):
        options["max_iter"] = int(rng.integers(1, 6))
    if chance(rng, 0.2):
        options["fit_intercept"] = False
    return options


def draw_rows(rng: Rng, n: int) -> dict[str, Array]:
    """Weights and offsets of the samples."""
    rows = {}
    kind = rng.random()
    if kind < 0.12:
        rows["sample_weight"] = rng.uniform(0.0, 2.0, n)
    elif kind < 0.2:
        rows["sample_weight"] = rng.integers(0, 3, n).astype(float)
    elif kind < 0.26:
        rows["sample_weight"] = power(rng, -8, 8, n)
    elif kind < 0.28:
        rows["sample_weight"] = power(rng, -100, 100, n)
    if chance(rng, 0.15):
        rows["offset"] = pick(rng, (0.1, 1.0, 100.0)) * rng.standard_normal(n)
    return rows


def mend_weights(rows: dict[str, Array], signs: Array) -> dict[str, Array]:
    """Leave some weight to either class: without it the input would be bad."""
    weight = rows.get("sample_weight")
    if weight is not None:
        for sign in (-1.0, 1.0):
            if not weight[signs == sign].any():
                weight[signs == sign] = 1.0
    return rows


def draw_columns(rng: Rng, X: Array, *, start: bool) -> dict[str, Array]:
    """Penalty factors, bounds and a start, in the scales of the columns."""
    p = X.shape[1]
    columns = {}
    size = np.abs(X).max(axis=0)
    unit = 1.0 / np.where(size > 0, size, 1.0)
    if chance(rng, 0.2):
        factor = rng.uniform(0.0, 2.0, p)
        columns["penalty_factor"] = factor * (rng.random(p) < pick(rng, (0.5, 0.8, 1.0)))
    if chance(rng, 0.2):
        columns["lower"] = -unit * pick(rng, (0.0, 0.1, 1.0, np.inf)) * rng.integers(1, 3, p)
        columns["upper"] = unit * pick(rng, (0.0, 0.1, 1.0, np.inf)) * rng.integers(1, 3, p)
    if start and chance(rng, 0.12):
        columns["coef_init"] = unit * rng.standard_normal(p) * pick(rng, (1.0, 100.0))
    return columns


def draw_alphas(rng: Rng, X: Array, signs: Array) -> Any:
    """A number of penalties, or penalties around the one at which coefficients begin."""
    if chance(rng, 0.45):
        return int(rng.integers(1, 6))
    with np.errstate(all="ignore"):
        top = float(np.abs((X - X.mean(axis=0)).T @ signs).max()) / len(X)
    top = top if np.isfinite(top) and top > 0 else 1.0
    count = int(rng.integers(1, 4))
    if chance(rng, 0.15):
        return power(rng, -8, 3, count)
    return np.maximum(top * power(rng, -4, 0.5, count), 1e-300)


def draw_storage(rng: Rng, X: Array, *, kernel: bool = False) -> tuple[Array, tuple[str, ...]]:
    """How the matrix is handed over, and its values as they then are.

    A kernel matrix is dense, and not rounded to integers, which would make it indefinite.
    """
    steps: list[str] = []
    largest = float(np.abs(X).max())
    kind = rng.random()
    if kind < 0.2 and 1e-30 < largest < 1e30:
        steps.append("float32")
        X = X.astype(np.float32).astype(float)
    elif kind < 0.3 and largest < 100 and not kernel:
        steps.append(pick(rng, ("int64", "int8")))
        X = np.rint(X)
    whole = bool(steps) and steps[0].startswith("int")
    if not kernel and chance(rng, 0.3):
        steps.append(pick(rng, SPARSE[:-1] if whole else SPARSE))
    elif chance(rng, 0.5):
        steps.append(pick(rng, DENSE))
    return X, tuple(steps)
