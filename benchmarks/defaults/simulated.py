"""Simulated problems of two classes, of the kinds that real data come in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage, sparse
from sklearn import datasets
from sklearn.preprocessing import normalize

from clearning.datasets import make_simulation

Sample = tuple[Any, np.ndarray]
Generator = np.random.Generator
Maker = Callable[[Generator, int], Sample]


def _flipped(rng: Generator, y: np.ndarray, rate: float) -> np.ndarray:
    """Labels of which a share is wrong."""
    return np.where(rng.random(len(y)) < rate, 1 - y, y)


def _drawn(rng: Generator, log_odds: np.ndarray) -> np.ndarray:
    return (rng.random(len(log_odds)) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)


def _seed(rng: Generator) -> int:
    return int(rng.integers(2**31))


def moons(rng: Generator, n: int) -> Sample:
    return datasets.make_moons(n, noise=0.3, random_state=_seed(rng))


def circles(rng: Generator, n: int) -> Sample:
    """Rings, among six columns that say nothing."""
    X, y = datasets.make_circles(n, noise=0.12, factor=0.6, random_state=_seed(rng))
    return np.column_stack([X, 0.3 * rng.standard_normal((n, 6))]), y


def paper(number: int) -> Maker:
    """One of the paper's simulations."""

    def make(rng: Generator, n: int) -> Sample:
        X, y = make_simulation(number, n, random_state=_seed(rng))[:2]
        return X, (y > 0).astype(int)

    return make


def linear(n_features: int, strength: float) -> Maker:
    """A logistic model of correlated features, as medical tables are."""

    def make(rng: Generator, n: int) -> Sample:
        common = rng.standard_normal((n, 1))
        X = 0.6 * common + rng.standard_normal((n, n_features))
        coef = np.random.default_rng(5).standard_normal(n_features)
        score = X @ coef
        return X, _drawn(rng, strength * (score - np.median(score)) / score.std())

    return make


def friedman(rng: Generator, n: int) -> Sample:
    X, f = datasets.make_friedman1(n, n_features=20, random_state=_seed(rng))
    return X, _drawn(rng, (f - 14.4) / 1.5)


def friedman_ratio(rng: Generator, n: int) -> Sample:
    X, f = datasets.make_friedman3(n, noise=0.05, random_state=_seed(rng))
    return X, (f > 1.35).astype(int)


def clusters(n_features: int, spread: float) -> Maker:
    """Each class a mixture of four normal clusters."""

    def make(rng: Generator, n: int) -> Sample:
        centres = np.random.default_rng(3).standard_normal((8, n_features))
        place = rng.integers(8, size=n)
        return centres[place] + spread * rng.standard_normal((n, n_features)), place % 2

    return make


def two_clouds(rng: Generator, n: int) -> Sample:
    """Normal classes of which one is wider, in a few features: nearly apart."""
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, 5)) * np.where(y, 1.0, 0.6)[:, None]
    return X + np.outer(y, [1.8, 1.2, 0.8, 0.0, 0.0]), y


def unequal_spread(rng: Generator, n: int) -> Sample:
    """Equal means: only the covariances tell the classes apart."""
    y = rng.integers(2, size=n)
    scale = np.where(y[:, None], np.linspace(0.5, 2.0, 12), np.linspace(2.0, 0.5, 12))
    return rng.standard_normal((n, 12)) * scale, y


def images(n_templates: int, noise: float) -> Maker:
    """Smooth pictures of 16 × 16, each class several of them, moved about and blurred."""

    def make(rng: Generator, n: int) -> Sample:
        draw = np.random.default_rng(11)
        field = draw.standard_normal((2 * n_templates, 24, 24))
        field = ndimage.gaussian_filter(field, (0, 2.5, 2.5))
        field /= field.std(axis=(1, 2), keepdims=True)
        place = rng.integers(2 * n_templates, size=n)
        X = np.empty((n, 256))
        for row, template in enumerate(place):
            down, right = rng.integers(2, 7, size=2)
            picture = field[template, down : down + 16, right : right + 16]
            other = field[rng.integers(2 * n_templates), 4:20, 4:20]
            picture = np.tanh(2.0 * (picture + 0.3 * other))
            X[row] = (picture + noise * rng.standard_normal((16, 16))).ravel()
        return X, place % 2

    return make


def text(n_words: int, length: int, strength: float) -> Maker:
    """Counts of words: topics, of which the class makes some likelier; unit rows of logarithms."""

    def make(rng: Generator, n: int) -> Sample:
        draw = np.random.default_rng(13)
        common = 1.0 / np.arange(2, n_words + 2)
        topics = common * draw.gamma(0.3, size=(12, n_words))
        topics /= topics.sum(axis=1, keepdims=True)
        tilt = strength * draw.standard_normal(12)
        y = rng.integers(2, size=n)
        rows = []
        for label in y:
            shares = rng.gamma(0.4 * np.exp((2 * label - 1) * tilt))
            words = shares @ topics / shares.sum()
            rows.append(sparse.csr_array(rng.multinomial(rng.poisson(length) + 5, words)[None]))
        return normalize(sparse.csr_array(sparse.vstack(rows)).astype(float).log1p()), y

    return make


def genes(n_features: int, n_told: int, shift: float) -> Maker:
    """Thousands of columns in correlated groups, of which a few tell the classes apart."""

    def make(rng: Generator, n: int) -> Sample:
        y = rng.integers(2, size=n)
        n_groups = n_features // 50
        factors = rng.standard_normal((n, n_groups))
        X = 0.7 * np.repeat(factors, 50, axis=1) + rng.standard_normal((n, 50 * n_groups))
        told = np.random.default_rng(2).choice(50 * n_groups, n_told, replace=False)
        X[:, told] += shift * (2 * y[:, None] - 1)
        return X, y

    return make


def counted(rng: Generator, n: int) -> Sample:
    """Many zeros and long tails, as of words in mails: logarithms of some fifty frequencies."""
    draw = np.random.default_rng(4)
    coef = draw.standard_normal(50) * (draw.random(50) < 0.5)
    there = rng.random((n, 50)) < draw.uniform(0.1, 0.6, size=50)
    X = np.log1p(there * rng.lognormal(0.0, 1.0, size=(n, 50)))
    score = X @ coef + 1.5 * X[:, 0] * X[:, 1] - 1.5 * X[:, 2] * X[:, 3]
    return X, _drawn(rng, 2.5 * (score - np.median(score)))


def indicators(rng: Generator, n: int) -> Sample:
    """One of several answers to each of fifteen questions, pairs of which matter together."""
    draw = np.random.default_rng(6)
    answers = rng.integers(5, size=(n, 15))
    single = draw.standard_normal((15, 5))
    joint = draw.standard_normal((7, 5, 5))
    score = single[np.arange(15), answers].sum(axis=1)
    score += sum(joint[k, answers[:, 2 * k], answers[:, 2 * k + 1]] for k in range(7))
    X = (answers[:, :, None] == np.arange(5)).reshape(n, -1).astype(float)
    return X, _drawn(rng, 0.7 * score)


def folded(rng: Generator, n: int) -> Sample:
    """A class by the parity of halves, in three of eight columns, with some labels wrong."""
    X = rng.uniform(-1.0, 1.0, size=(n, 8))
    y = (np.prod(np.sign(X[:, :2] + 0.2), axis=1) > 0).astype(int)
    return X, _flipped(rng, y, 0.05)
