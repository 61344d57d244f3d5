"""Artificial data whose class probability is known: the paper's Section 5.1, and two Gaussian sets.

All generators return `X, y, eta` with labels y in {-1, +1} and eta = Pr(y = +1 | x).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from clearning._ranges import Range

Array = NDArray[np.float64]
RandomState = int | np.random.RandomState | None
Sample = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]

FLIPPED = 0.2  # share of flipped labels in the first simulation
NOISE_VARIANCE = 0.01  # of the second simulation: a variance, see `make_simulation`


def make_simulation(number: int, n_samples: int = 1000, random_state: RandomState = None) -> Sample:
    """Draw one of the two simulations of Section 5.1.

    1. x uniform on the unit disk, y = sign(x₁), then a random 20 % of the labels flipped:
       η(x) = 0.8 where x₁ ≥ 0 and 0.2 elsewhere.
    2. y = ±1 with equal probability, x₁ uniform on [0, 2π], x₂ = y (sin x₁ + ε) with
       ε ~ N(1, 0.01): logit η(x) = 200 x₂ (1 + sin x₁). The 0.01 is a variance; the Bayes error is
       then 0.058, just under the error the paper reports.

    Parameters
    ----------
    number : {1, 2}
        Which of the paper's two simulations.
    n_samples : int, default=1000
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,), values -1 and +1
    eta : ndarray of shape (n_samples,), the true Pr(y = +1 | x)

    Examples
    --------
    >>> from clearning.datasets import make_simulation
    >>> X, y, eta = make_simulation(1, 100, random_state=0)
    >>> print(X.shape, sorted(set(eta.tolist())))
    (100, 2) [0.2, 0.8]
    """
    if number not in (1, 2):
        raise ValueError(f"number must be 1 or 2, the paper's two simulations; got {number!r}.")
    Range(1, closed="left", integer=True).check("n_samples", n_samples)
    rng = check_random_state(random_state)
    return _flipped_disk(rng, n_samples) if number == 1 else _mirrored_sines(rng, n_samples)


def simulation_probability(number: int, X: ArrayLike) -> NDArray[np.float64]:
    """Return the true η(x) of simulation 1 or 2 at any points.

    Examples
    --------
    >>> from clearning.datasets import simulation_probability
    >>> simulation_probability(1, [[0.5, 0.0], [-0.5, 0.0]])
    array([0.8, 0.2])
    """
    X = np.asarray(X, dtype=float)
    if number == 1:
        return np.where(X[:, 0] >= 0, 1 - FLIPPED, FLIPPED)
    centre = 1 + np.sin(X[:, 0])
    return expit(2 * X[:, 1] * centre / NOISE_VARIANCE)


def _flipped_disk(rng: np.random.RandomState, n: int) -> Sample:
    radius = np.sqrt(rng.uniform(size=n))
    angle = rng.uniform(0, 2 * np.pi, size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = np.where(X[:, 0] >= 0, 1, -1)
    flipped = rng.choice(n, size=round(FLIPPED * n), replace=False)
    y[flipped] *= -1
    return X, y, simulation_probability(1, X)


def _mirrored_sines(rng: np.random.RandomState, n: int) -> Sample:
    y = np.where(rng.uniform(size=n) < 0.5, -1, 1)
    x1 = rng.uniform(0, 2 * np.pi, size=n)
    noise = rng.normal(1.0, np.sqrt(NOISE_VARIANCE), size=n)
    X = np.column_stack([x1, y * (np.sin(x1) + noise)])
    return X, y, simulation_probability(2, X)


def make_g241c(
    n_samples: int = 1500, n_features: int = 241, random_state: RandomState = None
) -> Sample:
    """Draw data in the manner of g241c: two Gaussians, one a class.

    Half of the samples come from each of two unit-variance isotropic Gaussians whose centres lie
    2.5 apart in a random direction; then every column is standardised. The Bayes error is
    Φ(-1.25) = 0.106 (Chapelle, Schölkopf and Zien, Semi-Supervised Learning, 2006, chapter 21).

    Parameters
    ----------
    n_samples : int, default=1500
        Number of samples, half of each class.
    n_features : int, default=241
        Number of features.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y, eta
        As in `make_simulation`.

    Examples
    --------
    >>> from clearning.datasets import make_g241c
    >>> X, y, eta = make_g241c(100, random_state=0)
    >>> X.shape
    (100, 241)
    """
    Range(2, closed="left", integer=True).check("n_samples", n_samples)
    Range(1, closed="left", integer=True).check("n_features", n_features)
    rng = check_random_state(random_state)
    centres = np.vstack([np.zeros(n_features), 2.5 * _direction(rng, n_features)])
    return _gaussian_mixture(rng, centres, np.array([1, -1]), n_samples)


def make_g241d(
    n_samples: int = 1500, n_features: int = 241, random_state: RandomState = None
) -> Sample:
    """Draw data in the manner of g241d: four Gaussians whose clusters mislead.

    The two Gaussians of class +1 lie 6 apart in a random direction; those of class -1 lie 2.5 from
    one of them each, in random directions. A quarter of the samples comes from each, with unit
    variance, and every column is standardised (the same source as `make_g241c`).

    Parameters
    ----------
    n_samples : int, default=1500
        Number of samples, half of each class.
    n_features : int, default=241
        Number of features.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y, eta
        As in `make_simulation`.

    Examples
    --------
    >>> from clearning.datasets import make_g241d
    >>> X, y, eta = make_g241d(100, random_state=0)
    >>> X.shape
    (100, 241)
    """
    Range(4, closed="left", integer=True).check("n_samples", n_samples)
    Range(1, closed="left", integer=True).check("n_features", n_features)
    rng = check_random_state(random_state)
    positive = np.vstack([np.zeros(n_features), 6.0 * _direction(rng, n_features)])
    negative = positive + 2.5 * np.vstack([_direction(rng, n_features) for _ in range(2)])
    return _gaussian_mixture(
        rng, np.vstack([positive, negative]), np.array([1, 1, -1, -1]), n_samples
    )


def _gaussian_mixture(
    rng: np.random.RandomState, centres: Array, labels: NDArray[np.int64], n: int
) -> Sample:
    component = np.arange(n) % len(centres)
    rng.shuffle(component)
    X = centres[component] + rng.normal(size=(n, centres.shape[1]))
    # Isotropic unit variance: log densities up to a constant, before the columns are rescaled.
    log_density = X @ centres.T - 0.5 * np.sum(centres**2, axis=1)
    eta = expit(
        logsumexp(log_density[:, labels == 1], axis=1)
        - logsumexp(log_density[:, labels == -1], axis=1)
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), labels[component], eta


def _direction(rng: np.random.RandomState, dimension: int) -> Array:
    direction = rng.normal(size=dimension)
    return direction / np.linalg.norm(direction)
