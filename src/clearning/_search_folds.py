"""The folds of a cross-validation, each one's part of a problem, and the threads at work on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from threading import Condition, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from clearning import _core
from clearning._designs import Array, Indices
from clearning._problem import Problem, Target
from clearning.path import RegularizationPath

Fold = tuple[Indices, Indices]

# Samples of a class that are drawn for every fold.
_LEAST_OF_A_CLASS = 4


def make_folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    target: Target,
    split_params: Mapping[str, Any] | None = None,
) -> list[Fold]:
    """Return stratified folds whose training parts hold all classes, or say why there are none."""
    counts = class_counts(target, slice(None))
    if isinstance(cv, Integral) and min(counts) < int(cv):
        label = target.classes.tolist()[int(np.argmin(counts))]
        raise ValueError(
            f"cv={cv} needs at least {cv} samples of each class, but class {label!r} has "
            f"n_samples = {min(counts)}. Use fewer folds, or pass a splitter as cv."
        )
    given = list(check_cv(cv, y, classifier=True).split(X, y, **(split_params or {})))
    if not given:
        raise ValueError(
            "cv gives no folds. Pass a number of folds, a splitter or pairs of indices."
        )
    folds = [_check_fold(number, fold, len(target.codes)) for number, fold in enumerate(given)]
    for number, (train, test) in enumerate(folds):
        left = class_counts(target, train)
        if min(left) == 0:
            missing = target.classes.tolist()[int(np.argmin(left))]
            lack = "only one class" if len(left) == 2 else f"no sample of class {missing!r}"
            raise ValueError(
                f"Fold {number} of cv leaves {lack} to train on. "
                "Use fewer folds, or folds that are stratified by class."
            )
        if max(class_counts(target, test)) == 0:
            raise ValueError(f"Fold {number} of cv has no sample with weight to test on.")
    return folds


def _check_fold(number: int, fold: Any, n_samples: int) -> Fold:
    """Return a fold's training and test samples by their numbers, or say what is wrong with it."""
    parts = []
    for part in map(np.asarray, fold):
        if part.dtype == bool and part.shape == (n_samples,):
            part = np.flatnonzero(part)
        fits = part.ndim == 1 and (part.dtype.kind in "iu" or part.size == 0)
        if not fits or (part.size and not -n_samples <= part.min() <= part.max() < n_samples):
            raise ValueError(
                f"Fold {number} of cv must be a pair of training and test indices, integers below "
                f"the number of samples ({n_samples}) or masks of that length; got {part.dtype} of "
                f"shape {part.shape}" + (f" from {part.min()} to {part.max()}." if fits else ".")
            )
        parts.append(np.arange(n_samples)[part.astype(np.intp)])
    return parts[0], parts[1]


def folds_on(folds: Sequence[Fold], rows: Indices, n_samples: int) -> list[Fold]:
    """Return folds in terms of some of the samples."""
    position = np.full(n_samples, -1)
    position[rows] = np.arange(len(rows))
    parts = [tuple(position[part] for part in fold) for fold in folds]
    return [(train[train >= 0], test[test >= 0]) for train, test in parts]


def some_samples(folds: Sequence[Fold], target: Target, most: int, seed: int) -> Indices | None:
    """Draw so many samples at most, with all classes in every fold; None where all are to be taken.

    Each class has its share, but not fewer than a fold can do with.
    """
    n_samples = len(target.codes)
    if n_samples <= most:
        return None
    rng, least = np.random.default_rng(seed), _LEAST_OF_A_CLASS * len(folds)
    counts = class_counts(target, slice(None))
    drawn = [
        rng.permutation(np.flatnonzero(target.codes == code))[
            : max(most * count // n_samples, least)
        ]
        for code, count in enumerate(counts)
    ]
    rows = np.sort(np.concatenate(drawn))
    part = target.rows(rows)
    for train, test in folds_on(folds, rows, n_samples):
        if min(class_counts(part, train)) == 0 or max(class_counts(part, test), default=0) == 0:
            return None
    return rows


def class_counts(target: Target, index: Any) -> list[int]:
    """Samples of each class that carry weight."""
    codes = target.codes[index]
    if target.weight is not None:
        codes = codes[target.weight[index] > 0]
    return np.bincount(codes, minlength=target.n_classes).tolist()


# Parts with fewer entries than this, of all folds together, stay between the rounds of a search.
_KEPT_ENTRIES = 2**24


class FoldPart:
    """A fold's part of a problem: made for the first of a round's jobs, let go after the last.

    Jobs are threads and come fold by fold, so that no more parts are alive than threads at work;
    small parts stay for those that follow.
    """

    def __init__(self, whole: Problem, fold: Fold) -> None:
        self.whole = whole
        self.train, self.test = fold
        self._lock = Lock()
        self._jobs_left = 0
        self._problem: Problem | None = None
        self._held_out: Any = None

    def expect(self, n_jobs: int) -> None:
        """Say how many jobs there are in the round that begins."""
        self._jobs_left = n_jobs

    def __enter__(self) -> Problem:
        with self._lock:
            if self._problem is None:
                self._problem = self.whole.rows(self.train)
                self._held_out = self.whole.design.held_out(self.train, self.test)
            return self._problem

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._jobs_left -= 1
            if self._jobs_left == 0 and self.is_large:
                self._problem = self._held_out = None

    @property
    def is_large(self) -> bool:
        """Whether the parts of all folds together are too much to keep."""
        return len(self.whole.target.codes) * self.whole.design.n_columns > _KEPT_ENTRIES

    def scores(self, path: RegularizationPath) -> Array:
        """Return the scores of the test samples, one column per alpha (and class)."""
        scores = path.scores(self._held_out)
        offset = self.whole.target.offset
        return scores if offset is None else scores + offset[self.test][:, None]


class Crew:
    """Threads at work, to be waited for when the work is called off.

    An interrupt reaches the main thread alone. Were the others left behind in compiled code, the
    interpreter could not end in peace.
    """

    def __init__(self) -> None:
        self.state = Condition()
        self.at_work = 0
        self.called_off = False

    def __enter__(self) -> None:
        with self.state:
            if self.called_off:
                raise KeyboardInterrupt
            self.at_work += 1

    def __exit__(self, *error: object) -> None:
        with self.state:
            self.at_work -= 1
            self.state.notify_all()

    def call_off(self, *, at_once: bool) -> None:
        """Let no job begin any more, and wait for those that have begun; at once, end them too."""
        with self.state:
            self.called_off = True
            if at_once:
                _core.interrupt()
            self.state.wait_for(lambda: self.at_work == 0)
