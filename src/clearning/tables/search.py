"""Linear against kernel: each cross-validated by its own search, then compared."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV

# Beyond so many training rows a kernel is tried only if asked for.
MOST_KERNEL_ROWS = 5000


@dataclass(frozen=True)
class Choice:
    """The classifier chosen, what was compared, and why.

    `candidates` are plain records: name, score, standard error, seconds.
    """

    classifier: Any
    candidates: list[dict[str, Any]]
    reason: str
    notes: list[str]


def search(
    Z: Any, y: Any, weight: Any, options: Any, cv: Any, say: Callable[[str], None]
) -> Choice:
    """Cross-validate the candidates and choose among them.

    A kernel must be better than the linear classifier by more than the standard error of the
    difference, fold for fold: a model that can be read is given up for a reason only.
    """
    common = {"cv": cv, "selection": options.selection, "n_jobs": options.jobs}
    candidates = {"linear": CLearningClassifierCV(**common)}
    if options.kernel or (options.kernel is None and Z.shape[0] <= MOST_KERNEL_ROWS):
        candidates["kernel"] = KernelCLearningClassifierCV(**common)
    notes: list[str] = []
    records = [_fit(name, each, Z, y, weight, notes, say) for name, each in candidates.items()]
    chosen, reason = _choose(records)
    return Choice(candidates[chosen], records, reason, notes)


def _fit(
    name: str,
    classifier: Any,
    Z: Any,
    y: Any,
    weight: Any,
    notes: list[str],
    say: Callable[[str], None],
) -> dict[str, Any]:
    begun = time.perf_counter()
    # Folds run side by side: threads inside BLAS would only get in each other's way.
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always", ConvergenceWarning)
        classifier.fit(Z, y, sample_weight=weight)
    if any(issubclass(one.category, ConvergenceWarning) for one in met):
        notes.append(f"Some fits of the {name} candidate ended before their proof was complete.")
    results, index = classifier.cv_results_, classifier.best_index_
    if classifier.alpha_ <= classifier.path_.alphas[-1] and len(classifier.path_.alphas) > 1:
        notes.append(
            f"The {name} candidate is best at the weakest penalty tried: it may want a weaker one, "
            "or there are too few rows to tell."
        )
    folds = [key for key in results if key.startswith("split")]
    record = {
        "name": name,
        "folds": [-float(results[fold][index]) for fold in folds],
        "log_loss": -float(results["mean_test_score"][index]),
        "standard_error": float(results["sem_test_score"][index]),
        "seconds": time.perf_counter() - begun,
    }
    say(
        f"{name}: cross-validated log-loss {record['log_loss']:.4f} "
        f"± {record['standard_error']:.4f} ({record['seconds']:.1f} s)"
    )
    return record


def _choose(records: list[dict[str, Any]]) -> tuple[str, str]:
    linear = records[0]
    if len(records) == 1:
        return "linear", "Only the linear model was tried."
    gains = np.array(linear["folds"]) - np.array(records[1]["folds"])
    gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))
    told = f"by {gain:.4f} ± {error:.4f} fold for fold"
    if gain > error:
        return "kernel", (
            f"The kernel's cross-validated log-loss is lower {told}: more than a standard error."
        )
    if gain > 0:
        return "linear", (
            f"The kernel's cross-validated log-loss is lower {told}: not more than a standard "
            "error, and the linear model can be read."
        )
    return "linear", "The linear model has the lower cross-validated log-loss, and can be read."
