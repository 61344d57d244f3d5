"""Calibration inside a cross-validation, on scores that the fits had not seen.

Every penalty of a candidate has scores of all folds' test samples. A calibrator fitted to those of
the other folds makes a fold's probabilities, so that no sample judges a link it has helped to fit;
the one fitted to all of them is for the model that is fitted to all samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from clearning._designs import Array, Indices
from clearning._problem import Target
from clearning._search_folds import Fold, class_counts
from clearning._search_scoring import Metric
from clearning.losses import Coherence, MultiCoherence


@dataclass(frozen=True)
class Calibration:
    """The classes and weights of the samples, and each fold's test part."""

    labels: NDArray[Any]
    weight: Array | None
    tests: Sequence[Indices]

    def cross_fit(self, metric: Metric, scores: Sequence[Array]) -> tuple[Array, list[Any]]:
        """Return a candidate's metric (alphas, folds) and, for each alpha, its calibrator.

        ``scores`` are those of each fold's test part, one column per alpha.
        """
        n_alphas, n_folds = scores[0].shape[1], len(scores)
        table, calibrators = np.empty((n_alphas, n_folds)), []
        for j in range(n_alphas):
            columns = [part[:, j] for part in scores]
            for k in range(n_folds):
                others = [fold for fold in range(n_folds) if fold != k]
                # At u = 0 the calibrator is an inverse link of the coherence function.
                kind: Any = Coherence if columns[k].ndim == 1 else MultiCoherence
                link = kind(rho=self._fit(columns, others).rho_, u=0.0)
                table[j, k] = metric(link, columns[k][:, None], self.tests[k])[0]
            calibrators.append(self._fit(columns, range(n_folds)))
        return table, calibrators

    def _fit(self, columns: Sequence[Array], folds: Sequence[int]) -> Any:
        # Not at the top: that package builds on the classifiers.
        from clearning.calibration import CoherenceCalibrator, JointCoherenceCalibrator

        kind: Any = CoherenceCalibrator if columns[0].ndim == 1 else JointCoherenceCalibrator
        rows = np.concatenate([self.tests[k] for k in folds])
        with warnings.catch_warnings():
            # Scores that say nothing, as at the largest penalty, are no cause for alarm here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return kind(u=0.0, smooth=0.5).fit(
                np.concatenate([columns[k] for k in folds]),
                self.labels[rows],
                None if self.weight is None else self.weight[rows],
            )


def make_calibration(
    folds: Sequence[Fold], target: Target, sample_weight: Array | None
) -> Calibration:
    """Return the calibration of these folds, or say why there is none."""
    every = np.arange(len(target.codes))
    tests = [every[test] for _, test in folds]
    every_class = "both classes" if target.n_classes == 2 else "every class"
    for number in range(len(folds)):
        others = [test for k, test in enumerate(tests) if k != number]
        if not others or min(class_counts(target, np.concatenate(others))) == 0:
            raise ValueError(
                "calibrate=True fits to the test samples of all folds but one, which must be of "
                f"{every_class}; without fold {number} of {len(folds)} they are not."
            )
    labels = target.signs > 0 if target.n_classes == 2 else target.codes
    return Calibration(labels, sample_weight, tests)
