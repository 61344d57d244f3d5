"""What a fitted model shows of itself: its features, its path, its search, its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning._curve import combination_rows, marked_penalties
from clearning._directions import coefficients_by_score, scored_classes, strength
from clearning._summary import entry_penalties
from clearning.tables.model import TableModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Feature:
    """A number that the classifier uses.

    Attributes
    ----------
    label, column : str
        What it is called, and the column it was made of.
    coefficients : list of float
        For each score, on the scale of the table.
    standardised : list of float
        For each score, on the scale that the penalty sees: a standard deviation for numbers.
    size : float
        What it is ranked by.
    order : int or None
        Its place among all features by when it entered the path, from 1; those that entered at the
        same penalty share it.
    entered : float or None
        The penalty at which it entered.
    """

    label: str
    column: str
    coefficients: list[float]
    standardised: list[float]
    size: float
    order: int | None
    entered: float | None


def kept_features(model: TableModel) -> list[Feature]:
    """The features of a linear classifier that are not zero, the weightiest first."""
    classifier = model.classifier
    if not hasattr(classifier, "coef_"):
        return []
    derived, coef = model.derived, classifier.coef_
    scales = np.array([feature.scale for feature in derived])
    sizes = np.abs(strength(coef))
    entered = entry_penalties(classifier)
    kept = [j for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0]
    return [
        Feature(
            derived[j].label,
            derived[j].column,
            (coef[:, j] / scales[j]).tolist(),
            coef[:, j].tolist(),
            float(sizes[j]),
            None if np.isnan(entered[j]) else 1 + int((entered > entered[j]).sum()),
            None if np.isnan(entered[j]) else float(entered[j]),
        )
        for j in kept
    ]


@dataclass(frozen=True)
class Curve:
    """The cross-validated log-loss along the path."""

    alphas: Array
    loss: Array
    error: Array
    kept: NDArray[np.int64]
    best: float
    one_se: float
    chosen: float


def search_curve(classifier: Any) -> Curve:
    """The curve of the chosen combination."""
    results = classifier.cv_results_
    rows = combination_rows(results, classifier.best_index_)[0]
    best, one_se = marked_penalties(results, rows)
    return Curve(
        results["param_alpha"][rows],
        -results["mean_test_score"][rows],
        results["sem_test_score"][rows],
        classifier.path_.n_nonzero,
        best,
        one_se,
        classifier.alpha_,
    )


def path_lines(classifier: Any) -> tuple[Array, Array]:
    """Penalties, and a line for each feature: its coefficient, or their norm over the classes."""
    path = classifier.path_
    return path.alphas, strength(coefficients_by_score(path.coefs, classifier.n_features_in_))


def certificate(classifier: Any) -> str:
    """What is proved about the fit, for a reader who does not know what a duality gap is."""
    share = classifier.dual_gap_ / classifier.objective_
    told = (
        "No model of this kind has a penalised training loss lower by more than "
        f"{percent(share)}. This is computed from the fit, not assumed."
    )
    if getattr(classifier, "landmarks_", None) is None:
        return told
    full = getattr(classifier, "full_gap_", np.nan)
    on_all = "of models on all rows nothing is proved"
    if np.isfinite(full):
        limit = percent(full / classifier.objective_)
        on_all = f"among models on all rows none lower by more than {limit}"
    return (
        f"Among models on the {len(classifier.landmarks_):,} rows chosen as landmarks none has "
        f"a penalised training loss lower by more than {percent(share)}, and {on_all}. This is "
        "computed from the fit, not assumed."
    )


# Below this a share is only said to be below this.
_LEAST_PERCENT = 1e-6


def percent(share: float) -> str:
    """A small share, rounded up so that what is said stays true."""
    value = max(100.0 * share, _LEAST_PERCENT)
    digits = max(0, -int(np.floor(np.log10(value))))
    unit = 10.0**-digits
    return f"{np.ceil(value / unit) * unit:.{digits}f}%"


def score_labels(model: TableModel) -> list[str]:
    """The classes that rows of coefficients belong to."""
    return [str(label) for label in scored_classes(model.classes).tolist()]
