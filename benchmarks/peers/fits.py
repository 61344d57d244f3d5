"""Solvers of one penalty at a time."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from peers.base import Peer, rows_first


class ScikitLearn(Peer):
    """saga, warm-started along the path: the one solver of scikit-learn with an elastic net."""

    name, package, label = "scikit-learn", "scikit-learn", "scikit-learn (saga)"
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7)
    layout = staticmethod(rows_first)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from sklearn.linear_model import LogisticRegression

        n, p = self.X.shape
        model = LogisticRegression(
            solver="saga",
            l1_ratio=l1_ratio,
            tol=tol,
            max_iter=100_000,
            fit_intercept=intercept,
            warm_start=True,
            random_state=0,
        )
        coefs, intercepts = np.empty((len(alphas), p)), np.empty(len(alphas))
        for k, alpha in self.in_time(alphas):
            model.set_params(C=1.0 / (n * alpha)).fit(self.X, self.y)
            coefs[k], intercepts[k] = model.coef_[0], model.intercept_[0]
        return coefs, intercepts


class Lbfgs(Peer):
    """scikit-learn's default: a ridge, one penalty at a time, cold."""

    name, package, label = "lbfgs", "scikit-learn", "scikit-learn (lbfgs)"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    layout = staticmethod(rows_first)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from sklearn.linear_model import LogisticRegression

        n, p = self.X.shape
        coefs, intercepts = np.empty((len(alphas), p)), np.empty(len(alphas))
        for k, alpha in self.in_time(alphas):
            model = LogisticRegression(
                C=1.0 / (n * alpha), tol=tol, max_iter=100_000, fit_intercept=intercept
            ).fit(self.X, self.y)
            coefs[k], intercepts[k] = model.coef_[0], model.intercept_[0]
        return coefs, intercepts


class Liblinear(Peer):
    """Cold fits, one a penalty. It penalises the intercept: a large scaling makes that small."""

    name, package, label = "liblinear", "scikit-learn", "LIBLINEAR"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    elastic_net = False
    layout = staticmethod(rows_first)
    INTERCEPT_SCALING = 1e4

    def solve(self, alphas, l1_ratio, tol, intercept):
        from sklearn.linear_model import LogisticRegression

        n, p = self.X.shape
        coefs, intercepts = np.empty((len(alphas), p)), np.empty(len(alphas))
        for k, alpha in self.in_time(alphas):
            model = LogisticRegression(
                solver="liblinear",
                l1_ratio=1.0,
                C=1.0 / (n * alpha),
                tol=tol,
                max_iter=100_000,
                fit_intercept=intercept,
                intercept_scaling=self.INTERCEPT_SCALING,
                random_state=0,
            ).fit(self.X, self.y)
            coefs[k], intercepts[k] = model.coef_[0], np.ravel(model.intercept_)[0]
        return coefs, intercepts


class SnapML(Peer):
    """Cold fits, one a penalty, without an intercept: the one it fits is not returned."""

    name, package, label = "snapml", "snapml", "Snap ML, no intercept"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    fits_intercept = False
    elastic_net = False

    def prepare(self, workload):
        super().prepare(workload)
        self.X = sp.csr_matrix(self.X) if sp.issparse(self.X) else np.ascontiguousarray(self.X)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from snapml import LogisticRegression

        n, p = self.X.shape
        coefs = np.empty((len(alphas), p))
        for k, alpha in self.in_time(alphas):
            model = LogisticRegression(
                penalty="l1",
                dual=False,
                regularizer=float(n * alpha),
                tol=tol,
                max_iter=100_000,
                n_jobs=self.threads,
            ).fit(self.X, self.y)
            coefs[k] = np.ravel(model.coef_)
        return coefs, np.zeros(len(alphas))
