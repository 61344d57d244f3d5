"""The package itself."""

from __future__ import annotations

from peers.base import Peer


class Clearning(Peer):
    name, package, label = "clearning", "clearning", "clearning"
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from clearning import clearning_path

        self.found = clearning_path(
            self.X,
            self.y,
            loss="logistic",
            alphas=alphas,
            l1_ratio=l1_ratio,
            tol=tol,
            fit_intercept=intercept,
        )
        return self.found.coefs, self.found.intercepts

    def path(self, *args, **kwargs):
        solution = super().path(*args, **kwargs)
        solution.gaps = self.found.dual_gaps
        return solution
