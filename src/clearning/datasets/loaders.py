"""The paper's real data, as (X, y) with y in {-1, +1}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning.datasets import sources
from clearning.datasets.store import fetch

Data = tuple[NDArray[np.float64], NDArray[np.int64]]

# The published recipe for the 3571 genes (Dudoit, Fridlyand and Speed, 2002).
FLOOR, CEILING = 100.0, 16000.0
LEAST_RATIO, LEAST_RANGE = 5.0, 500.0


def load_usps(subset: str = "train") -> Data:
    """Load the USPS digits: 16×16 grey values in [-1, 1], labels 0 to 9.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The 7291 training or the 2007 test images, in the original order.

    Returns
    -------
    X : ndarray of shape (n_samples, 256)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from clearning.datasets import load_usps
    >>> X, y = load_usps("test")  # doctest: +SKIP
    """
    if subset not in ("train", "test"):
        raise ValueError(f"subset must be 'train' or 'test'; got {subset!r}.")
    arrays = fetch(sources.USPS)
    return arrays[f"X_{subset}"].astype(float), arrays[f"y_{subset}"].astype(np.int64)


def load_usps_pair(positive: int, negative: int, n_per_digit: int = 200) -> Data:
    """Load two digits of USPS: the first `n_per_digit` of each in the training file.

    Parameters
    ----------
    positive, negative : int
        The digits labelled +1 and -1.
    n_per_digit : int, default=200
        Images taken of each digit; the paper takes 200.

    Returns
    -------
    X : ndarray of shape (2 * n_per_digit, 256)
    y : ndarray of shape (2 * n_per_digit,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_usps_pair
    >>> X, y = load_usps_pair(2, 3)  # doctest: +SKIP
    """
    X, digit = load_usps()
    rows = _first_of_each(digit, (positive, negative), n_per_digit)
    return X[rows], np.where(digit[rows] == positive, 1, -1)


def load_usps_odd_even(n_per_digit: int = 80) -> Data:
    """Load odd (+1) against even (-1) digits: the first 80 training images of each of the ten.

    Parameters
    ----------
    n_per_digit : int, default=80
        Images taken of each digit.

    Returns
    -------
    X : ndarray of shape (10 * n_per_digit, 256)
    y : ndarray of shape (10 * n_per_digit,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_usps_odd_even
    >>> X, y = load_usps_odd_even()  # doctest: +SKIP
    """
    X, digit = load_usps()
    rows = _first_of_each(digit, range(10), n_per_digit)
    return X[rows], np.where(digit[rows] % 2 == 1, 1, -1)


def load_colon() -> Data:
    """Load the colon data: log10 expression of 2000 genes, 40 tumours (+1) and 22 normal (-1).

    Returns
    -------
    X : ndarray of shape (62, 2000)
    y : ndarray of shape (62,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_colon
    >>> X, y = load_colon()  # doctest: +SKIP
    """
    arrays = fetch(sources.COLON)
    return np.log10(arrays["X"]), _signs(arrays["y"])


def load_leukemia() -> Data:
    """Load the leukemia data: 3571 of 7129 genes, 25 AML (+1) and 47 ALL (-1).

    Values are cut to [100, 16000]; genes with max/min ≤ 5 or max − min ≤ 500 over the 72 samples
    are left out; then log10, and every sample standardised.

    Returns
    -------
    X : ndarray of shape (72, 3571)
    y : ndarray of shape (72,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_leukemia
    >>> X, y = load_leukemia()  # doctest: +SKIP
    """
    arrays = fetch(sources.LEUKEMIA)
    return select_genes(arrays["X"]), _signs(arrays["y"])


def select_genes(raw: NDArray) -> NDArray[np.float64]:
    """Apply the published recipe to raw expression levels (samples × genes)."""
    X = np.clip(raw.astype(float), FLOOR, CEILING)
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.log10(X[:, (high > LEAST_RATIO * low) & (high - low > LEAST_RANGE)])
    centred = X - X.mean(axis=1, keepdims=True)
    return centred / X.std(axis=1, ddof=1, keepdims=True)


def load_g241c() -> Data:
    """Load the benchmark g241c: 1500 samples, 241 standardised features, 750 a class.

    Returns
    -------
    X : ndarray of shape (1500, 241)
    y : ndarray of shape (1500,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_g241c
    >>> X, y = load_g241c()  # doctest: +SKIP
    """
    return _ssl(sources.G241C)


def load_g241d() -> Data:
    """Load the benchmark g241d: 1500 samples, 241 standardised features, 752 and 748 a class.

    Returns
    -------
    X : ndarray of shape (1500, 241)
    y : ndarray of shape (1500,), values -1 and +1

    Examples
    --------
    >>> from clearning.datasets import load_g241d
    >>> X, y = load_g241d()  # doctest: +SKIP
    """
    return _ssl(sources.G241D)


def _ssl(source: sources.Source) -> Data:
    arrays = fetch(source)
    return arrays["X"], arrays["y"].astype(np.int64)


def _signs(y: NDArray) -> NDArray[np.int64]:
    return np.where(y == 1, 1, -1)


def _first_of_each(digit: NDArray[Any], wanted: Sequence[int], count: int) -> NDArray[np.int64]:
    rows = [np.flatnonzero(digit == value) for value in wanted]
    for value, found in zip(wanted, rows, strict=True):
        if not 1 <= count <= len(found):
            raise ValueError(
                f"n_per_digit must be between 1 and the {len(found)} images of the digit "
                f"{value!r}; got {count!r}."
            )
    return np.sort(np.concatenate([found[:count] for found in rows]))
