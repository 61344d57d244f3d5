"""``cv_results_``: everything that was tried, and the choice among it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from clearning._designs import Array


class Tried(Protocol):
    """What was tried: hyperparameters, penalties and the score of each on every fold."""

    @property
    def alphas(self) -> Array: ...

    @property
    def scores(self) -> Array: ...

    @property
    def parameters(self) -> Mapping[str, float]: ...


def summarize(tried: Sequence[Tried], fold_weight: ArrayLike) -> dict[str, Any]:
    """Return ``cv_results_``: one entry per candidate and alpha, in scikit-learn's names.

    The mean over folds is weighted by the test weight of each, so that it is the mean over the
    samples. ``sem_test_score`` is the standard error of that mean, as R's cv.glmnet has it.
    """
    flat = np.concatenate([each.scores for each in tried])
    share = np.asarray(fold_weight, dtype=np.float64)
    share = share / share.sum()
    mean = flat @ share
    std = np.sqrt((flat - mean[:, None]) ** 2 @ share)
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(1, len(order) + 1)
    results: dict[str, Any] = {"param_alpha": np.concatenate([each.alphas for each in tried])}
    lengths = [len(each.alphas) for each in tried]
    for name in tried[0].parameters:
        results[f"param_{name}"] = np.repeat([each.parameters[name] for each in tried], lengths)
    results |= {f"split{k}_test_score": flat[:, k] for k in range(flat.shape[1])}
    return results | {
        "mean_test_score": mean,
        "std_test_score": std,
        "sem_test_score": std / np.sqrt(max(int(np.count_nonzero(share)) - 1, 1)),
        "rank_test_score": rank,
    }


def select(results: Mapping[str, Any], rows: slice, selection: str) -> int:
    """Return the index of the chosen entry of ``cv_results_`` among one candidate's rows.

    "best" has the largest mean score, the largest alpha among equals; "one_se" is the largest
    alpha whose mean is within one standard error of the best.
    """
    mean = np.nan_to_num(results["mean_test_score"][rows], nan=-np.inf)
    best = int(np.argmax(mean))
    if mean[best] == -np.inf:
        raise ValueError("scoring gave no finite mean score at any alpha.")
    if selection == "one_se":
        within = mean[: best + 1] >= mean[best] - results["sem_test_score"][rows][best]
        best = int(np.argmax(within))
    return rows.start + best


def rows_of(tried: Sequence[Tried], chosen: Tried) -> slice:
    """Return where a candidate's entries are in the table."""
    lengths = [len(each.alphas) for each in tried]
    number = next(k for k, each in enumerate(tried) if each is chosen)
    first = sum(lengths[:number])
    return slice(first, first + lengths[number])
