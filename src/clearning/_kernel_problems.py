"""The problems that a kernel search chooses among: one for each width of the kernel.

Where the widths are "auto" they are looked for on a few landmarks and, of many samples, on some of
them, which rank widths as all do and take a fraction of the time; the width that is chosen is then
fitted on all samples and the expansion asked for. Gaussian kernels of all samples share one matrix
of squared distances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from clearning._designs import Indices
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
# So many landmarks tell widths and losses apart. Fewer than that hide what narrow kernels can do:
# 200 of 300 samples chose wide ones for pictures (benchmarks/results-defaults.md). Beyond so many
# samples more take half as long again, and choose no better.
COARSE, COARSE_OF_FEW = 200, 300
FEW = 500


@dataclass(frozen=True)
class Samples:
    """Samples to fit, or their kernel matrix.

    Attributes
    ----------
    X : array-like
        The samples.
    make : callable
        Makes the problem of an expansion.
    rows : ndarray or None
        Which they are, where they are not all.
    """

    X: Any
    make: Callable[[Expansion], Problem]
    rows: Indices | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


class KernelProblems:
    """Problems by their widths.

    Parameters
    ----------
    kernels : sequence of Kernel
        Those of the given widths; of "auto", the one to begin with.
    samples : Samples
        All samples.
    some : Samples
        Those to look for widths on.
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
        samples: Samples,
        some: Samples,
        n_landmarks: int | None,
        random_state: Any,
        *,
        auto: bool,
    ) -> None:
        self.kernels = kernels
        self.samples = samples
        self.some = some if auto else samples
        self.n_landmarks = n_landmarks
        self.auto = auto
        self._size = n_landmarks or len(samples)
        # The same landmarks each time a width is come back to.
        given = isinstance(random_state, Integral)
        self._seed = random_state if given else check_random_state(random_state).randint(2**31)
        self._tried: list[float] = []
        self._finer = False
        self._last: tuple[Of, Problem] | None = None
        self._distances: Any = None

    def first(self) -> list[Of]:
        """The given widths, or the one to begin with."""
        self._tried = [kernel.gamma for kernel in self.kernels]
        count = len(self.some)
        coarse = COARSE if len(self.samples) > FEW else COARSE_OF_FEW
        size = min(self._size, coarse, count) if self.auto else self._size
        return [{"gamma": gamma, "n_landmarks": size, "n_samples": count} for gamma in self._tried]

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
        """The same width on all samples and the expansion asked for."""
        whole = {**of, "n_landmarks": self._size, "n_samples": len(self.samples)}
        return of if whole == of else whole

    def rows(self, of: Of) -> Indices | None:
        """Which samples a width is fitted on; None for all."""
        return self._samples(of).rows

    def kernel(self, of: Of) -> Kernel:
        """The kernel of a width."""
        return replace(self.kernels[0], gamma=of["gamma"])

    def at(self, of: Of) -> Problem:
        """The problem of a width, made anew unless it was the last."""
        if self._last is None or self._last[0] is not of:
            self._last = None
            self._last = (of, self._samples(of).make(self._expansion(of)))
        return self._last[1]

    def _samples(self, of: Of) -> Samples:
        return self.samples if of["n_samples"] == len(self.samples) else self.some

    def _expansion(self, of: Of) -> Expansion:
        kernel, size, X = self.kernel(of), int(of["n_landmarks"]), self._samples(of).X
        if size < X.shape[0] or self.n_landmarks is not None:
            return expand(kernel, X, size, self._seed)
        if kernel.name != "rbf" or len(self._tried) == 1 or X is not self.samples.X:
            return expand(kernel, X, None, self._seed)
        return self._gaussian(kernel)

    def _gaussian(self, kernel: Kernel) -> Expansion:
        """Return the expansion in all samples, of distances that are computed once."""
        if self._distances is None:
            with np.errstate(over="ignore", invalid="ignore"):
                widest = self._widest()
                distances = negative_distance_matrix(self.samples.X, kernel.dtype, widest)
            kernel.check_finite(distances)
            self._distances = distances, np.empty_like(distances)
        distances, K = self._distances
        return Expansion(gaussian_of(distances, kernel.gamma, K), None, np.arange(len(K)))

    def _widest(self) -> float:
        """The largest gamma that may come: it decides how carefully distances are computed."""
        largest = max(self._tried)
        return largest * _FARTHEST if self.auto else largest
