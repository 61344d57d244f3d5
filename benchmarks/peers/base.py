"""What every adapter offers: the same three calls.

`prepare` puts the data into the layout the solver asks for (not timed), `path` solves for a list
of penalties and returns coefficients, intercepts and seconds, `tolerances` is a ladder that
starts looser than the solver's default.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import time
import warnings
from dataclasses import dataclass

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
    gaps: np.ndarray | None = None  # the duality gaps that the solver itself proves


class Unavailable(Exception):
    """The solver is not installed here."""


class OutOfTime(Exception):
    """A path was given up between two penalties."""


def as_it_is(X):
    """Columns first, or a sparse array of columns: what a workload holds."""
    return X


def column_matrix(X):
    """Sparse data as a matrix, for solvers that know no sparse arrays."""
    return sp.csc_matrix(X) if sp.issparse(X) else X


def rows_first(X):
    """For solvers that read samples one by one."""
    return sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)


class Peer:
    """What every adapter offers; `threads` is told to solvers that ask for it."""

    name: str
    package: str
    label: str
    tolerances: tuple[float, ...]
    compiles = False
    fits_intercept = True
    elastic_net = True
    takes_sparse = True
    layout = staticmethod(as_it_is)

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
        self.X, self.y, self.signs = self.layout(workload.X), workload.y, workload.signs

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
