"""Calibration inside a cross-validation, on scores that the fits had not seen.

Every penalty of a candidate has scores of all folds' test samples. One link is fitted to them all,
and judges the candidate in every fold; that of the chosen one is for the model that is fitted to
all samples. It has one number or two: of n samples, log-losses look better by some 1/(2n) for each.
Links of each fold's own, fitted to the other folds, say more of the folds than of the candidate,
and chose worse on the problems of benchmarks/defaults.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from clearning._designs import Array, Indices
from clearning._door import relative
from clearning._problem import Target
from clearning._search_folds import Fold, class_counts
from clearning._search_links import SMOOTH, fit_links
from clearning._search_scoring import Metric
from clearning.losses import Logistic, MultiCoherence

_MOST_COUNTED = 1e6


@dataclass(frozen=True)
class Calibration:
    """The classes and weights of the samples, and each fold's test part.

    With an `offset` the link may move the rate of the positive class, as it has to where classes
    are weighted; the number says how firmly it is held to zero.
    """

    codes: NDArray[np.intp]
    n_classes: int
    weight: Array | None
    tests: Sequence[Indices]
    offset: float | None

    @cached_property
    def _rows(self) -> Indices:
        """The test samples, fold by fold."""
        return np.concatenate(self.tests)

    @cached_property
    def _counts(self) -> Array:
        """Their weights, as counts."""
        return np.ones(len(self._rows)) if self.weight is None else self.weight[self._rows]

    def judge(self, metric: Metric, scores: Sequence[Array]) -> Array:
        """Return a candidate's metric (alphas, folds).

        ``scores`` are those of each fold's test part, one column per alpha.
        """
        scales, offsets = self._links(np.concatenate(scores))
        # In its own units each score has the plain link.
        link: Any = Logistic() if self.n_classes == 2 else MultiCoherence(1.0, 0.0)
        if self.n_classes > 2:
            scales, offsets = scales[:, None], offsets[:, None]
        folds = zip(scores, self.tests)
        return np.stack([metric(link, f * scales + offsets, test) for f, test in folds], axis=1)

    def _links(self, scores: Array) -> tuple[Array, Array]:
        codes = self.codes[self._rows]
        return fit_links(scores, codes, self._counts, self.n_classes, offset=self.offset)

    def fit(self, columns: Sequence[Array]) -> tuple[Any, float]:
        """Return the calibrator of one penalty, and what is to be added to the scores before.

        It is fitted to the test samples of every fold. An offset b of the logit f/ρ + b is told in
        units of the score, ρb: moved by it, the score keeps the side of the likelier class.
        """
        # Not at the top: that package builds on the classifiers.
        from clearning.calibration import CoherenceCalibrator, JointCoherenceCalibrator

        rows, scores, shift = self._rows, np.concatenate(columns), 0.0
        codes, weight = self.codes[rows], None if self.weight is None else self.weight[rows]
        calibrator: Any = JointCoherenceCalibrator(u=0.0, smooth=SMOOTH)
        if self.n_classes == 2:
            calibrator, labels = CoherenceCalibrator(u=0.0, smooth=SMOOTH), codes > 0
        if self.offset is not None:
            scale, b = self._links(scores[:, None])
            shift = float(b[0] / scale[0])
        with warnings.catch_warnings():
            # Scores that say nothing, as at the largest penalty, are no cause for alarm here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return calibrator.fit(
                scores + shift, codes if self.n_classes > 2 else labels, weight
            ), shift


def can_calibrate(folds: Sequence[Fold], target: Target) -> bool:
    """Whether the test samples of the folds are of every class."""
    return bool(np.all(np.sum([class_counts(target, test) for _, test in folds], axis=0)))


def make_calibration(
    folds: Sequence[Fold], target: Target, sample_weight: Array | None, *, offset: float | None
) -> Calibration:
    """Return the calibration of these folds, or say why there is none."""
    if not can_calibrate(folds, target):
        every_class = "both classes" if target.n_classes == 2 else "every class"
        raise ValueError(
            f"calibrate=True fits to the test samples of all folds, which must be of {every_class}."
        )
    every = np.arange(len(target.codes))
    return Calibration(
        target.codes,
        target.n_classes,
        None if sample_weight is None else _as_counts(sample_weight),
        [every[test] for _, test in folds],
        offset if target.n_classes == 2 else None,
    )


def _as_counts(weight: Array) -> Array:
    """Return weights that can be read as counts: of a mean of one or more, and not beyond counting.

    A weight of two is the sample twice, and labels are doubted the less the more samples there are.
    Weights that only say how samples compare, such as shares, must not make it look as if there
    were hardly any.
    """
    shares = relative(weight)
    held = shares[shares > 0]
    with np.errstate(over="ignore"):
        mean = float(held.mean() * weight.max())
    return shares * (min(max(mean, 1.0), _MOST_COUNTED) / float(held.mean()))
