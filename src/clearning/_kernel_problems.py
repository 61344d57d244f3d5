"""The problems that a kernel search chooses among: one for each width of the kernel.

Where the widths are "auto" they are looked for on a few landmarks, which rank them as all samples
do and take a fraction of the time; the width that is chosen is then fitted on the expansion asked
for. Gaussian kernels of all samples share one matrix of squared distances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearning._expansion import Expansion, expand
from clearning._kernel_matrix import gaussian_of
from clearning._problem import Problem
from clearning.kernels import Kernel, negative_distance_matrix

Of = Mapping[str, float]

# Widths tried around the first, and how far to go on where the best of them is the last. Kernels
# that are too wide see nothing of a fine pattern, and give no hint of the way: hence the ninefold.
_AROUND = (1 / 3, 3.0, 9.0)
_FURTHER = 3.0
_FARTHEST = 3.0**5
_FINER = (3.0**-0.5, 3.0**0.5)
# So many landmarks are enough to tell widths and losses apart.
COARSE = 200


class KernelProblems:
    """Problems by their widths.

    Parameters
    ----------
    kernels : sequence of Kernel
        Those of the given widths; of "auto", the one to begin with.
    X : array-like
        The samples, or their kernel matrix.
    make : callable
        Makes the problem of an expansion.
    n_landmarks : int or None
        The expansion to fit in the end.
    random_state : int, RandomState or None
        Draws the landmarks.
    auto : bool
        Whether to look for widths.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        make: Callable[[Expansion], Problem],
        n_landmarks: int | None,
        random_state: Any,
        *,
        auto: bool,
    ) -> None:
        self.kernels = kernels
        self.X = X
        self.make = make
        self.n_landmarks = n_landmarks
        self.auto = auto
        self._size = n_landmarks or X.shape[0]
        # The same landmarks each time a width is come back to.
        drawn = isinstance(random_state, np.random.RandomState)
        self._seed = random_state.randint(2**31) if drawn else random_state
        self._tried: list[float] = []
        self._finer = False
        self._last: tuple[Of, Problem] | None = None
        self._distances: Any = None

    def first(self) -> list[Of]:
        """The given widths, or the one to begin with."""
        self._tried = [kernel.gamma for kernel in self.kernels]
        size = min(self._size, COARSE) if self.auto else self._size
        return [{"gamma": gamma, "n_landmarks": size} for gamma in self._tried]

    def beside(self, best: Of) -> list[Of]:
        """Widths around the first, further ones while the last is best, at the end finer ones."""
        if not self.auto or self._finer:
            return []
        begun, gamma = self._tried[0], best["gamma"]
        if len(self._tried) == 1:
            new = [begun * factor for factor in _AROUND]
        elif gamma == min(self._tried) and gamma > begun / _FARTHEST:
            new = [gamma / _FURTHER]
        elif gamma == max(self._tried) and gamma < begun * _FARTHEST:
            new = [gamma * _FURTHER]
        else:
            self._finer = True
            new = [gamma * factor for factor in _FINER]
        self._tried += new
        return [{**best, "gamma": each} for each in new]

    def n_beside(self) -> int:
        """How many widths will be tried beside the first, as a rule."""
        return len(_AROUND) + 1 + len(_FINER) if self.auto else 0

    def settled(self, of: Of) -> Of:
        """The same width on the expansion asked for."""
        return of if of["n_landmarks"] == self._size else {**of, "n_landmarks": self._size}

    def kernel(self, of: Of) -> Kernel:
        """The kernel of a width."""
        return replace(self.kernels[0], gamma=of["gamma"])

    def at(self, of: Of) -> Problem:
        """The problem of a width, made anew unless it was the last."""
        if self._last is None or self._last[0] is not of:
            self._last = None
            self._last = (of, self.make(self._expansion(of)))
        return self._last[1]

    def _expansion(self, of: Of) -> Expansion:
        kernel, size = self.kernel(of), int(of["n_landmarks"])
        if size < self.X.shape[0] or self.n_landmarks is not None:
            return expand(kernel, self.X, size, self._seed)
        if kernel.name != "rbf" or len(self._tried) == 1:
            return expand(kernel, self.X, None, self._seed)
        return self._gaussian(kernel)

    def _gaussian(self, kernel: Kernel) -> Expansion:
        """Return the expansion in all samples, of distances that are computed once."""
        if self._distances is None:
            with np.errstate(over="ignore", invalid="ignore"):
                widest = self._widest()
                distances = negative_distance_matrix(self.X, kernel.dtype, widest)
            kernel.check_finite(distances)
            self._distances = distances, np.empty_like(distances)
        distances, K = self._distances
        return Expansion(gaussian_of(distances, kernel.gamma, K), None, np.arange(len(K)))

    def _widest(self) -> float:
        """The largest gamma that may come: it decides how carefully distances are computed."""
        largest = max(self._tried)
        return largest * _FARTHEST if self.auto else largest
