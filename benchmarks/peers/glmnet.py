"""glmnet: R's own, in a process beside this one, and Python's wrapper of its Fortran."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from peers.base import Peer, Solution, Unavailable, column_matrix


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
            ["Rscript", str(Path(__file__).parent.with_name("glmnet_server.R"))],
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


class PythonGlmnet(Peer):
    name, package, label = "python-glmnet", "python-glmnet", "python-glmnet"
    tolerances = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    layout = staticmethod(column_matrix)

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
