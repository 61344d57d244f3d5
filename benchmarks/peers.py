"""Adapters: one class a solver, all with the same three calls.

`prepare` puts the data into the layout the solver asks for (not timed), `path` solves for a list
of penalties and returns coefficients, intercepts and seconds, `tolerances` is a ladder that
starts looser than the solver's default.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from workloads import Workload

# On a busy machine the processor's time is steadier than the wall's; results are the wall's.
CLOCK = os.environ.get("BENCH_CLOCK", "wall")
clock = {"wall": time.perf_counter, "cpu": time.process_time}[CLOCK]


@dataclass
class Solution:
    coefs: np.ndarray | sp.sparray  # (n_alphas, n_features)
    intercepts: np.ndarray
    seconds: float
    certified: float | None = None  # the worst relative duality gap that the solver itself reports


class Unavailable(Exception):
    """The solver is not installed here."""


class OutOfTime(Exception):
    """A path was given up between two penalties."""


class Peer:
    """What every adapter offers; `threads` is told to solvers that ask for it."""

    name: str
    package: str
    label: str
    tolerances: tuple[float, ...]
    compiles = False
    fits_intercept = True
    elastic_net = True

    def __init__(self, threads: int = 1):
        self.threads = threads
        self.deadline = math.inf

    @classmethod
    def version(cls) -> str:
        try:
            return importlib.metadata.version(cls.package)
        except importlib.metadata.PackageNotFoundError as error:
            raise Unavailable(f"{cls.package} is not installed") from error

    def prepare(self, workload: Workload) -> None:
        self.X, self.y, self.signs = workload.X, workload.y, workload.signs

    def path(self, alphas: np.ndarray, l1_ratio: float, tol: float, *, intercept=True) -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = clock()
            coefs, intercepts = self.solve(alphas, l1_ratio, tol, intercept)
            return Solution(coefs, intercepts, clock() - start)

    def solve(self, alphas, l1_ratio, tol, intercept):
        raise NotImplementedError

    def in_time(self, alphas):
        """The penalties one by one, until the deadline."""
        for k, alpha in enumerate(alphas):
            if time.perf_counter() > self.deadline:
                raise OutOfTime(f"after {k} penalties")
            yield k, alpha

    def close(self) -> None:
        """End what `prepare` started."""


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
        solution.certified = float(np.max(self.found.dual_gaps / self.found.objectives))
        return solution


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


class PythonGlmnet(Peer):
    name, package, label = "python-glmnet", "python-glmnet", "python-glmnet"
    tolerances = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)

    def prepare(self, workload):
        super().prepare(workload)
        if sp.issparse(self.X):
            self.X = sp.csc_matrix(self.X)

    def solve(self, alphas, l1_ratio, tol, intercept):
        from glmnet import LogitNet

        model = LogitNet(
            alpha=l1_ratio,
            lambda_path=alphas,
            standardize=False,
            fit_intercept=intercept,
            n_splits=0,
            tol=tol,
            max_iter=100_000_000,
        )
        model.fit(self.X, self.y)
        return model.coef_path_[0].T, np.asarray(model.intercept_path_).ravel()


class Skglm(Peer):
    name, package, label = "skglm", "skglm", "skglm"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    compiles = True

    def prepare(self, workload):
        super().prepare(workload)
        if sp.issparse(self.X):
            self.X = sp.csc_matrix(self.X)

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

    def prepare(self, workload):
        super().prepare(workload)
        if sp.issparse(self.X):
            self.X = sp.csc_matrix(self.X)

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


class ScikitLearn(Peer):
    """saga, warm-started along the path: the one solver of scikit-learn with an elastic net."""

    name, package, label = "scikit-learn", "scikit-learn", "scikit-learn (saga)"
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7)

    def prepare(self, workload):
        super().prepare(workload)
        if sp.issparse(self.X):
            self.X = sp.csr_array(self.X)
        else:
            self.X = np.ascontiguousarray(self.X)

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


class Liblinear(Peer):
    """Cold fits, one a penalty. It penalises the intercept: a large scaling makes that small."""

    name, package, label = "liblinear", "scikit-learn", "LIBLINEAR"
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    elastic_net = False
    INTERCEPT_SCALING = 1e4

    def prepare(self, workload):
        super().prepare(workload)
        if sp.issparse(self.X):
            self.X = sp.csr_array(self.X)
        else:
            self.X = np.ascontiguousarray(self.X)

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


class GlmnetR(Peer):
    """R's glmnet in a process of its own, timed inside R."""

    name, package, label = "glmnet-r", "glmnet (R)", "glmnet (R)"
    tolerances = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13)

    @classmethod
    def version(cls) -> str:
        if shutil.which("Rscript") is None:
            raise Unavailable("Rscript is not installed")
        answer = subprocess.run(
            ["Rscript", "-e", 'cat(as.character(packageVersion("glmnet")))'],
            capture_output=True,
            text=True,
        )
        if answer.returncode:
            raise Unavailable("R's glmnet is not installed")
        return answer.stdout.strip()

    def __init__(self, threads: int = 1):
        super().__init__(threads)
        self.process: subprocess.Popen | None = None

    def prepare(self, workload):
        super().prepare(workload)
        self.close()
        self.folder = Path(tempfile.mkdtemp(prefix="bench-glmnet-"))
        self.process = subprocess.Popen(
            ["Rscript", str(Path(__file__).with_name("glmnet_server.R"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()
        np.array(self.X.shape, dtype=np.int32).tofile(self.folder / "shape.bin")
        workload.y.astype(float).tofile(self.folder / "y.bin")
        if sp.issparse(self.X):
            X = sp.csc_array(self.X)
            X.sort_indices()
            X.data.astype(float).tofile(self.folder / "data.bin")
            X.indices.astype(np.int32).tofile(self.folder / "indices.bin")
            X.indptr.astype(np.int32).tofile(self.folder / "indptr.bin")
        else:
            np.asarray(self.X).ravel(order="K").tofile(self.folder / "X.bin")
        self._ask("load", self.folder)

    def path(self, alphas, l1_ratio, tol, *, intercept=True):
        np.asarray(alphas, dtype=float).tofile(self.folder / "alphas.bin")
        return self._solution(*self._ask("path", l1_ratio, tol, int(intercept), self.folder))

    def choose(self, folds) -> Solution:
        """cv.glmnet as it comes but for the folds: the solution of the least deviance."""
        self._write_folds(folds)
        return self._solution(*self._ask("choose", self.folder))

    def _write_folds(self, folds) -> None:
        (np.asarray(folds) + 1).astype(np.int32).tofile(self.folder / "folds.bin")

    def _solution(self, seconds: str, count: str) -> Solution:
        parts = (
            np.fromfile(self.folder / "coef_data.bin"),
            np.fromfile(self.folder / "coef_indices.bin", dtype=np.int32),
            np.fromfile(self.folder / "coef_indptr.bin", dtype=np.int32),
        )
        coefs = sp.csc_array(parts, shape=(self.X.shape[1], int(count))).T
        return Solution(coefs, np.fromfile(self.folder / "intercepts.bin"), float(seconds))

    def cross_validate(self, alphas, l1_ratio, tol, folds):
        """Mean deviance over the folds for every penalty, and seconds."""
        np.asarray(alphas, dtype=float).tofile(self.folder / "alphas.bin")
        self._write_folds(folds)
        seconds, _ = self._ask("cv", l1_ratio, tol, self.threads, self.folder)
        return np.fromfile(self.folder / "cv_deviance.bin"), float(seconds)

    def _ask(self, *words) -> list[str]:
        print(*words, file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> list[str]:
        line = self.process.stdout.readline().split()
        if not line or line[0] == "error":
            raise RuntimeError(" ".join(line) or "Rscript ended")
        return line[1:]

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
            self.process = None


OURS = Clearning.name
PEERS = {
    peer.name: peer
    for peer in (GlmnetR, Adelie, PythonGlmnet, Skglm, Celer, Liblinear, ScikitLearn, Clearning)
}
