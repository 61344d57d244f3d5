"""The door: what is looked at before SciPy, scikit-learn or the solver works on anything given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from clearning._ranges import LARGEST
from clearning._sklearn import num_samples

Array = NDArray[np.float64]


def check_matrix(X: Any, name: str = "X") -> Any:
    """Return a matrix that may be worked on, or say why it may not.

    The arrays inside a sparse matrix are trusted by every compiled loop over it, SciPy's included:
    one that points outside would be followed there.
    """
    _refuse_lazy(X, name)
    if not sparse.issparse(X):
        return X
    if X.format in ("lil", "dok"):
        # Their own conversions write what they are told to, and read nothing by it.
        X = X.tocsr() if X.format == "lil" else X.tocoo()
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
    elif X.format == "coo":
        for axis, coordinates in enumerate(X.coords):
            _check_indices(coordinates, len(X.data), X.shape[axis], f"{name}.coords[{axis}]")
    return X


def _check_compressed(X: Any, name: str) -> None:
    block = X.blocksize if X.format == "bsr" else (1, 1)
    counts = [size // width for size, width in zip(X.shape, block)]
    n_outer, n_inner = counts[::-1] if X.format == "csc" else counts
    starts = X.indptr
    stored = min(len(X.indices), len(X.data))
    if len(starts) != n_outer + 1 or starts[0] != 0 or starts[-1] > stored:
        raise ValueError(
            f"{name} is a broken sparse matrix: {name}.indptr must have {n_outer + 1} entries, "
            f"from 0 to at most {stored}, the number of entries that are stored."
        )
    if (np.diff(starts) < 0).any():
        raise ValueError(f"{name} is a broken sparse matrix: {name}.indptr must not decrease.")
    _check_indices(X.indices[: starts[-1]], int(starts[-1]), n_inner, f"{name}.indices")


def _check_indices(indices: Any, count: int, size: int, name: str) -> None:
    if len(indices) != count or (count and not (indices.min() >= 0 and indices.max() < size)):
        raise ValueError(
            f"{name.split('.')[0]} is a broken sparse matrix: {name} must hold {count} integers "
            f"in [0, {size - 1}]."
        )


def is_ready(X: Any) -> bool:
    """Whether X is what any check would make of it: finite floating-point numbers by columns.

    Asking scikit-learn takes a twentieth of a short path.
    """
    if not (type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.f_contiguous):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return X.dtype in (np.float64, np.float32) and bool(np.isfinite(X.sum()))


def check_labels(y: Any) -> Any:
    """Return labels that scikit-learn can read, such as those of a Dask array."""
    _refuse_lazy(y, "y")
    if isinstance(y, np.ndarray) or hasattr(y, "to_numpy") or not hasattr(y, "__array__"):
        return y
    return np.asarray(y)


def _refuse_lazy(values: Any, name: str) -> None:
    if type(values).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame, which holds no data yet; pass {name}.collect().")


@contextmanager
def floats(name: str) -> Iterator[None]:
    """Make floating-point numbers here; of an integer beyond them NumPy names nothing."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"{name} holds a number beyond ±{LARGEST:.2g}, the largest floating-point "
            "number: rescale it."
        ) from error


def check_numbers(name: str, values: Any) -> Array:
    """Return finite float64 numbers of any shape, or a sentence that names what was given."""
    if type(values) is np.ndarray and values.dtype == np.float64 and np.isfinite(values).all():
        return values
    try:
        with floats(name):
            return check_array(
                values,
                ensure_2d=False,
                allow_nd=True,
                dtype=np.float64,
                ensure_min_samples=0,
                input_name=name,
            )
    except (TypeError, ValueError) as error:
        if name in str(error):
            raise
        raise ValueError(f"{name} must hold real numbers: {error}") from error


def check_vector(name: str, values: Any) -> Array:
    """Return finite float64 numbers in one dimension."""
    checked = check_numbers(name, values)
    if checked.ndim != 1 or len(checked) == 0:
        raise ValueError(
            f"{name} must be one-dimensional and not empty; got shape {checked.shape}."
        )
    return checked


def check_weight(sample_weight: Any, X: Any) -> Array | None:
    """Return one finite weight >= 0 for each sample; a single number counts for all of them."""
    if sample_weight is None:
        return None
    n_samples = num_samples(X)
    weight = check_numbers("sample_weight", sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must be one number or an array of shape ({n_samples},); got shape "
            f"{weight.shape}."
        )
    if (weight < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight


def relative(weight: Array) -> Array:
    """Return weights as shares of the largest, whose sums can neither overflow nor vanish."""
    return weight / weight.max()


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, and take nothing else for either."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False.")
    return bool(value)
