"""A trial: one candidate's penalties on their way down, with the scores of every fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from clearning._designs import Array
from clearning._problem import Start
from clearning._search_space import Combination
from clearning.path import RegularizationPath

# Each penalty is this share of the one before: two to a decade, until the best is known.
STEP = 10.0**-0.5
# The step where the best is known to lie.
FINE = STEP ** (1.0 / 3.0)
# Penalties between the best and its neighbours, on either side.
_FINER = 2
# Large penalties are quick: the first few come together, the others one by one.
_FIRST_STRETCH = 4
# A score that has not risen for so many penalties will not, however flat it is.
_PATIENCE = 5
# Penalties that a descent usually takes.
_USUAL = 11
_LEAST_L1_RATIO = 1e-3


class Schedule(Protocol):
    """Which penalties come next."""

    def next(self, trial: Trial) -> Array | None:
        """Return the next penalties, from large to small, or None where there are no more."""

    def part(self, n_alphas: int) -> float:
        """Return how much of the whole path's time so many penalties take."""


@dataclass(frozen=True)
class Given:
    """All penalties at once, whatever their scores."""

    alphas: Array

    def next(self, trial: Trial) -> Array | None:
        return None if len(trial.alphas) else self.alphas

    def part(self, n_alphas: int) -> float:
        return min(n_alphas / len(self.alphas), 1.0)


@dataclass(frozen=True)
class Descent:
    """Penalties from `top` down until the score has turned, or `floor` is reached.

    Below `near`, where the best is expected, the steps are finer; above it no score has turned.
    """

    top: float
    floor: float
    near: float = 0.0

    @classmethod
    def below(
        cls, largest: float, l1_ratio: float, top: float, floor: float, near: float
    ) -> Descent:
        """Return the descent from the largest penalty with a coefficient, at this l1_ratio.

        Top and floor are shares of the largest at l1_ratio = 1: the same penalties for every ratio.
        A ridge alone has no largest one, and begins at the top.
        """
        slope = largest * max(l1_ratio, _LEAST_L1_RATIO)
        return cls(min(largest, top * slope), floor * slope, near)

    def next(self, trial: Trial) -> Array | None:
        # The floor itself is a power of the step as well as rounding allows.
        floor = self.floor * (1.0 - 1e-9)
        if len(trial.alphas) == 0:
            alphas: Array = self.top * np.power(STEP, np.arange(_FIRST_STRETCH))
            # However near the best or the floor is, the descent begins at the top.
            return alphas[: max(1, np.count_nonzero((alphas > self.near) & (alphas >= floor)))]
        last = float(trial.alphas[-1])
        alpha = last * (FINE if last <= self.near / STEP else STEP)
        has_turned = not last > self.near > 0.0 and trial.has_turned()
        return None if has_turned or alpha < floor else np.array([alpha])

    def part(self, n_alphas: int) -> float:
        # Every penalty takes longer than the one before.
        return min((n_alphas / _USUAL) ** 2, 1.0)


class Trial:
    """A candidate on its way: penalties tried, their scores, and the solutions of each fold.

    Attributes
    ----------
    combination : Combination
        The hyperparameters.
    of : mapping
        Those that the problem itself stands for, such as a kernel's width.
    alphas : ndarray of shape (n_alphas,)
        Penalties tried, from large to small.
    scores : ndarray of shape (n_alphas, n_folds)
        What the metric says of each.
    null : ndarray of shape (n_folds,) or None
        What the metric says of the classes' rates, where that is known.
    held_out : list of ndarray
        Each fold's scores f of its test samples, a column for each penalty; kept to calibrate.
    """

    def __init__(
        self,
        combination: Combination,
        of: Mapping[str, float],
        schedule: Schedule,
        share: Array,
        null: Array | None = None,
    ) -> None:
        self.combination = combination
        self.of = of
        self.schedule = schedule
        self.share = share
        self.null = null
        self.alphas = np.empty(0)
        self.scores = np.empty((0, len(share)))
        self.held_out: list[Array] = []
        self._pieces: list[list[RegularizationPath]] = [[] for _ in share]

    @property
    def means(self) -> Array:
        """The mean over folds at each penalty; a score that is no number is the worst."""
        return np.nan_to_num(self.scores @ self.share, nan=-np.inf)

    @property
    def best(self) -> int:
        """The place of the best penalty, the largest among equals."""
        return int(np.argmax(self.means))

    @property
    def parameters(self) -> dict[str, float]:
        """What ``cv_results_`` names beside alpha."""
        chosen = self.combination
        own = {"l1_ratio": chosen.l1_ratio, "rho": chosen.rho, "u": chosen.u}
        return {**own, **self.of}

    def add(
        self, alphas: Array, scores: Array, held_out: Sequence[Array], paths: Sequence[object]
    ) -> None:
        """Take in a stretch of penalties: its scores, and what each fold found."""
        every = np.concatenate([self.alphas, alphas])
        order = np.argsort(-every, kind="stable")
        self.alphas = every[order]
        self.scores = np.concatenate([self.scores, scores])[order]
        before = self.held_out or [part[:, :0] for part in held_out]
        self.held_out = [
            np.concatenate([old, new], axis=1)[:, order] for old, new in zip(before, held_out)
        ]
        for pieces, path in zip(self._pieces, paths):
            pieces.append(path)  # type: ignore[arg-type]

    def start(self, fold: int, alpha: float) -> Start | None:
        """Return a fold's solution at the next larger penalty, if there is one."""
        above = [
            (piece.alphas[k], piece, k)
            for piece in self._pieces[fold]
            for k in np.flatnonzero(piece.alphas > alpha)[-1:].tolist()
        ]
        if not above:
            return None
        _, piece, k = min(above, key=lambda each: each[0])
        return piece.start(k)

    def forget(self) -> None:
        """Let the solutions go."""
        self._pieces = [[] for _ in self.share]

    def has_turned(self) -> bool:
        """Whether the score has its best behind it: clearly below, or long not risen.

        One that has not yet been better than that of the rates alone has nothing behind it: a wide
        kernel fits a line, in vain, long before it can bend.
        """
        behind = len(self.alphas) - 1 - self.best
        if behind == 0:
            return False
        if self.null is not None and not is_better(self.scores[self.best], self.null, self.share):
            return False
        best, last = self.scores[self.best], self.scores[-1]
        # Before the first coefficient counts a score can be flat for long: accuracy, say.
        return (behind >= _PATIENCE and self.best > 0) or is_better(
            best, last, self.share, n_errors=2.0 / behind
        )

    def between(self) -> Array:
        """Return finer penalties between the best and its neighbours."""
        k, pairs = self.best, np.stack([self.alphas[:-1], self.alphas[1:]], axis=1)
        share = np.arange(1, _FINER + 1) / (_FINER + 1)
        sides = pairs[max(k - 1, 0) : k + 1]
        return (sides[:, :1] * (sides[:, 1:] / sides[:, :1]) ** share).ravel()


def is_better(scores: Array, others: Array, share: Array, n_errors: float = 1.0) -> bool:
    """Whether folds' scores are above others', by so many standard errors of the difference."""
    gain = scores - others
    mean = float(gain @ share)
    if not np.isfinite(mean):
        # No number is worse than any.
        return bool(np.isfinite(scores @ share))
    variance = float((gain - mean) ** 2 @ share)
    degrees = max(int(np.count_nonzero(share)) - 1, 1)
    return mean > n_errors * float(np.sqrt(variance / degrees))
