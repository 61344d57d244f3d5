"""Solvers that follow a path of penalties."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from peers.base import Peer, column_matrix


class Adelie(Peer):
    name, package, label = "adelie", "adelie", "adelie"
    tolerances = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)

    def prepare(self, workload):
        import adelie as ad

        super().prepare(workload)
        self.y = workload.y.astype(float)
        if sp.issparse(self.X):
            matrix = sp.csc_matrix(self.X)
            self.X = ad.matrix.sparse(matrix, method="naive", n_threads=self.threads)

    def solve(self, alphas, l1_ratio, tol, intercept):
        import adelie as ad

        state = ad.grpnet(
            self.X,
            ad.glm.binomial(self.y, dtype=np.float64),
            alpha=l1_ratio,
            lmda_path=alphas,
            tol=tol,
            irls_tol=tol,
            intercept=intercept,
            early_exit=False,
            progress_bar=False,
            n_threads=self.threads,
        )
        return sp.csr_array(state.betas), np.asarray(state.intercepts)


class Skglm(Peer):
    name, package, label = "skglm", "skglm", "skglm"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    compiles = True
    layout = staticmethod(column_matrix)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from skglm.datafits import Logistic
        from skglm.penalties import L1, L1_plus_L2
        from skglm.solvers import ProxNewton

        n, p = self.X.shape
        solver = ProxNewton(tol=tol, fit_intercept=intercept, max_iter=100, warm_start=True)
        datafit = Logistic()
        w, scores = np.zeros(p + intercept), np.zeros(n)
        coefs, intercepts = np.empty((len(alphas), p)), np.zeros(len(alphas))
        for k, alpha in self.in_time(alphas):
            penalty = L1(alpha) if l1_ratio == 1.0 else L1_plus_L2(alpha, l1_ratio)
            w = solver.solve(self.X, self.signs, datafit, penalty, w, scores)[0]
            coefs[k] = w[:p]
            if intercept:
                intercepts[k] = w[p]
        return coefs, intercepts


class Celer(Peer):
    name, package, label = "celer", "celer", "celer, no intercept"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    fits_intercept = False
    elastic_net = False
    layout = staticmethod(column_matrix)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from celer import celer_path

        n = self.X.shape[0]
        _, coefs, _ = celer_path(
            self.X,
            self.signs,
            "logreg",
            alphas=alphas * n,
            tol=tol,
            max_iter=100,
            use_PN=True,
        )
        return np.ascontiguousarray(coefs.T), np.zeros(len(alphas))


class Pybiglasso(Peer):
    """It scales columns by itself: penalty factors undo that for the ℓ₁ penalty, not for both."""

    name, package, label = "pybiglasso", "pybiglasso", "pybiglasso"
    tolerances = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    elastic_net = False
    takes_sparse = False

    def prepare(self, workload):
        super().prepare(workload)
        scale = self.X.std(axis=0)
        self.factor = 1.0 / np.where(scale > 0.0, scale, 1.0)
        self.y = workload.y.astype(float)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from pybiglasso import biglasso

        found = biglasso(
            self.X,
            self.y,
            lambdas=alphas,
            eps=tol,
            penalty_factor=self.factor,
            max_iter=1_000_000,
            stop_on_saturation=False,
            n_threads=self.threads,
        )
        return sp.csr_array(found.coef.T), np.asarray(found.intercept)


class Pycasso(Peer):
    name, package, label = "pycasso", "pycasso", "PICASSO"
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
    elastic_net = False
    takes_sparse = False

    def solve(self, alphas, l1_ratio, tol, intercept):
        from pycasso import Solver

        solver = Solver(
            self.X,
            self.y,
            lambdas=np.asarray(alphas),
            family="binomial",
            useintercept=intercept,
            standardize=False,
            prec=tol,
            max_ite=100_000,
        )
        solver.train()
        found = solver.coef()
        return np.asarray(found["beta"]), np.asarray(found["intercept"]).ravel()


class Glum(Peer):
    name, package, label = "glum", "glum", "glum"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    layout = staticmethod(column_matrix)

    def prepare(self, workload):
        super().prepare(workload)
        self.y = workload.y.astype(float)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from glum import GeneralizedLinearRegressor

        model = GeneralizedLinearRegressor(
            family="binomial",
            l1_ratio=l1_ratio,
            alpha_search=True,
            alphas=alphas,
            fit_intercept=intercept,
            gradient_tol=tol,
            max_iter=1000,
            check_input=False,
        ).fit(self.X, self.y)
        return np.asarray(model.coef_path_), np.asarray(model.intercept_path_)
