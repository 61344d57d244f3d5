"""What each column of a row contributed to its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning._directions import as_columns, scored_classes
from clearning.tables.model import TableModel

Array = NDArray[np.float64]

# A kernel's columns are tried one by one: no more columns than these, on so many rows in all.
_MOST_TRIED = 500
_ROWS_TRIED = 10_000


@dataclass(frozen=True)
class Explanation:
    """Scores taken apart by column, against the average training row.

    For each scored class: score = base + Σ contributions, for a linear classifier. For a kernel
    classifier a contribution is what the score loses when the column takes its average, and
    `together` what only several columns explain.

    Attributes
    ----------
    classes : ndarray of shape (n_scored,)
        The classes that have a score: the second of two, or all of many.
    columns : list of str
        The columns.
    probabilities : ndarray of shape (n_rows, n_scored)
        Of the scored classes.
    scores, together : ndarray of shape (n_rows, n_scored)
        The scores, and the part of them that no single column explains.
    base : ndarray of shape (n_scored,)
        The score of the average training row.
    contributions : ndarray of shape (n_scored, n_rows, n_columns)
        What each column adds.
    """

    classes: NDArray[Any]
    columns: list[str]
    probabilities: Array
    scores: Array
    together: Array
    base: Array
    contributions: NDArray[np.float64]


def influence(model: TableModel, prepared: Any) -> dict[str, float]:
    """How far each column moves the scores of some rows on average; {} where they are too many."""
    n_columns = len(prepared.columns)
    if n_columns > _MOST_TRIED:
        return {}
    found = explain(model, prepared[: max(20, _ROWS_TRIED // n_columns)])
    moved = np.abs(found.contributions).mean(axis=(0, 1))
    return dict(zip(found.columns, moved.tolist()))


def explain(model: TableModel, prepared: Any) -> Explanation:
    """Take the scores of some prepared rows apart."""
    Z, classifier = model.pipeline[0].transform(prepared), model.classifier
    derived = [feature.column for feature in model.derived]
    columns = list(dict.fromkeys(derived))
    place = np.array([columns.index(name) for name in derived])
    scores = as_columns(classifier.decision_function(Z))
    base = as_columns(classifier.decision_function(model.centre[None, :]))[0]
    if hasattr(classifier, "coef_"):
        parts = _linear(classifier.coef_, Z, model.centre, place, len(columns))
    else:
        parts = _occluded(classifier, Z, model.centre, place, scores)
    first = len(classifier.classes_) - scores.shape[1]
    return Explanation(
        classes=scored_classes(classifier.classes_),
        columns=columns,
        probabilities=classifier.predict_proba(Z)[:, first:],
        scores=scores,
        together=scores - base - parts.sum(axis=2).T,
        base=base,
        contributions=parts,
    )


def _linear(coef: Array, Z: Any, centre: Array, place: NDArray[Any], n_columns: int) -> Array:
    """Coefficient times distance from the mean, summed over each column's derived features."""
    belongs = sparse.csr_array(
        (np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), n_columns)
    )
    Z = sparse.csr_array(Z)
    return np.stack(
        [((Z * row[None, :]) @ belongs).toarray() - (centre * row) @ belongs for row in coef]
    )


def _occluded(
    classifier: Any, Z: Any, centre: Array, place: NDArray[Any], scores: Array
) -> NDArray[np.float64]:
    """What each score loses when one column takes its average."""
    dense = Z.toarray() if sparse.issparse(Z) else np.asarray(Z)
    parts = []
    for column in range(place.max() + 1):
        without = dense.copy()
        without[:, place == column] = centre[place == column]
        parts.append(scores - as_columns(classifier.decision_function(without)))
    return np.stack(parts, axis=2).transpose(1, 0, 2)
