"""The default kernel search against a grid of SVMs: seconds of one thread, and how good each is.

    python benchmarks/search_time.py --sizes 1000,2000,5000

The peer is `GridSearchCV(SVC())` over 6 values of C and 4 widths in five folds, calibrated by
`CalibratedClassifierCV(ensemble=False)`: what a careful user of scikit-learn would run. Both get
the same rows of `workloads.kernel_data` and are timed in CPU seconds, one after the other.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from workloads import kernel_data

from clearning import KernelCLearningClassifierCV

N_TEST = 10_000
COSTS = np.logspace(-2, 3, 6)
WIDTHS = np.array([0.25, 0.5, 1.0, 2.0]) / 20.0


class TunedSVC:
    """A grid of SVMs, and the best of them calibrated."""

    def fit(self, X, y) -> TunedSVC:
        svc = SVC(cache_size=1000)
        self.grid = GridSearchCV(svc, {"C": COSTS, "gamma": WIDTHS}, cv=5).fit(X, y)
        best = svc.set_params(**self.grid.best_params_)
        self.model = CalibratedClassifierCV(best, ensemble=False).fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def measure(model: Any, n: int) -> tuple[float, float, float]:
    """Return seconds, log-loss and error."""
    X, y = kernel_data(n)
    X_test, y_test = kernel_data(N_TEST, seed=1)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds = time.process_time() - began
    p = model.predict_proba(X_test)[:, 1]
    return seconds, float(log_loss(y_test, p)), float(np.mean((p > 0.5) != y_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,2000")
    parser.add_argument("--n-landmarks", type=int, help="of ours; the default's own by default")
    given = parser.parse_args()
    own = {} if given.n_landmarks is None else {"n_landmarks": given.n_landmarks}
    print(
        "| n | seconds | of a grid of SVMs | ratio | log-loss | of the SVM | error | of the SVM |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n in map(int, given.sizes.split(",")):
        ours = measure(KernelCLearningClassifierCV(**own), n)
        theirs = measure(TunedSVC(), n)
        told = [ours[0], theirs[0], ours[0] / theirs[0], ours[1], theirs[1], ours[2], theirs[2]]
        print(f"| {n} | " + " | ".join(f"{value:.4g}" for value in told) + " |", flush=True)


if __name__ == "__main__":
    main()
