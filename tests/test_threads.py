"""Fits side by side in threads: the core releases Python's lock and shares nothing but tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from clearning import clearning_path, kernel_clearning_path


def fits():
    """Every kind of design and both kinds of solver, on data that the fits share."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((60, 30)))
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0.0, 1, -1)
    S = sp.csc_array(X * (X > 0.5))
    K = np.exp(-((X[:, None, :3] - X[None, :, :3]) ** 2).sum(-1))
    grid = {"alphas": 6, "alpha_min_ratio": 0.05}
    return [
        lambda: clearning_path(X, y, **grid),
        lambda: clearning_path(X.astype(np.float32), y, loss="logistic", **grid),
        lambda: clearning_path(S, y, loss="squared_hinge", **grid),
        lambda: clearning_path(S, y, loss="hinge", l1_ratio=0.0, tol=1e-4, **grid),
        lambda: clearning_path(X, y, loss="hinge", tol=1e-4, **grid),
        lambda: kernel_clearning_path(K, y, **grid),
        lambda: kernel_clearning_path(K, y, l1_ratio=0.0, **grid),
        lambda: kernel_clearning_path(K, y, loss="hinge", l1_ratio=0.0, tol=1e-4, **grid),
    ]


def test_fits_in_threads_are_those_made_one_by_one():
    alone = [fit().coefs for fit in fits()]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda fit: fit().coefs, 4 * fits()))
    for coefs, expected in zip(together, 4 * alone):
        np.testing.assert_array_equal(coefs, expected)
