"""What is measured on the rows that were held out, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from clearning._directions import scored_classes
from clearning._words import count
from clearning.display.reliability import clopper_pearson
from clearning.metrics import reliability_curve
from clearning.tables.model import TableModel

Array = NDArray[np.float64]

_BINS = 10
_ROWS_A_BIN = 8
# A probability of nothing that came true costs no more than this.
_LEAST = 1e-15
THRESHOLDS = np.round(np.linspace(0.0, 1.0, 201), 3)


@dataclass(frozen=True)
class ClassMeasures:
    """How well one class is told from the rest by its probability."""

    label: str
    event: NDArray[np.bool_]
    probability: Array
    weight: Array

    @property
    def present(self) -> bool:
        """Whether the rows hold the class and others too, so that there is something to measure."""
        return bool(self.event.any() and not self.event.all())

    @cached_property
    def roc(self) -> tuple[Array, Array]:
        """Shares of false alarms and of hits over all thresholds."""
        false, hits, _ = roc_curve(self.event, self.probability, sample_weight=self.weight)
        return false, hits

    @cached_property
    def area(self) -> float:
        """Area under that curve."""
        return float(roc_auc_score(self.event, self.probability, sample_weight=self.weight))

    @cached_property
    def precision_recall(self) -> tuple[Array, Array]:
        """Recall and precision over all thresholds."""
        precision, recall, _ = precision_recall_curve(
            self.event, self.probability, sample_weight=self.weight
        )
        return recall[::-1], precision[::-1]

    @cached_property
    def average_precision(self) -> float:
        """Mean precision over recalls."""
        return float(
            average_precision_score(self.event, self.probability, sample_weight=self.weight)
        )

    @cached_property
    def calibration(self) -> dict[str, Array]:
        """Bins of the reliability diagram with 95% bands."""
        n_bins = int(np.clip(len(self.event) // _ROWS_A_BIN, 2, _BINS))
        curve = reliability_curve(
            self.event, self.probability, self.weight, n_bins=n_bins, strategy="quantile"
        )
        size = curve.effective_size
        low, high = clopper_pearson(curve.prob_true * size, size)
        return {"said": curve.prob_pred, "came": curve.prob_true, "low": low, "high": high}

    @property
    def calibration_gap(self) -> float:
        """Largest distance of a bin's band from the diagonal; 0 where every band holds it."""
        bins = self.calibration
        below, above = bins["low"] - bins["said"], bins["said"] - bins["high"]
        return float(max(0.0, np.maximum(below, above).max()))

    def counts(self) -> dict[str, list[int]]:
        """Hits and false alarms when everything from a threshold on is an alarm."""
        hits = np.sort(self.probability[self.event])
        false = np.sort(self.probability[~self.event])
        return {
            "hits": (len(hits) - np.searchsorted(hits, THRESHOLDS)).tolist(),
            "false": (len(false) - np.searchsorted(false, THRESHOLDS)).tolist(),
        }


@dataclass(frozen=True)
class Measures:
    """Everything that is measured on the test rows."""

    labels: list[str]
    actual: NDArray[np.intp]
    predicted: NDArray[np.intp]
    probability: Array
    weight: Array
    scored: list[str]

    @classmethod
    def of(cls, model: TableModel) -> Measures:
        """Take them from a model's record."""
        test = model.record["test"]
        labels = [str(label) for label in model.classes.tolist()]
        scored = [str(label) for label in scored_classes(model.classes).tolist()]
        actual, predicted = np.asarray(test["actual"]), np.asarray(test["predicted"])
        probability, weight = np.asarray(test["probability"]), np.asarray(test["weight"])
        return cls(labels, actual, predicted, probability, weight, scored)

    @property
    def n_rows(self) -> int:
        return len(self.actual)

    @property
    def n_wrong(self) -> int:
        return int((self.actual != self.predicted).sum())

    @property
    def error(self) -> float:
        return float(np.average(self.actual != self.predicted, weights=self.weight))

    @property
    def error_band(self) -> tuple[float, float]:
        """95% confidence limits of the error."""
        size = self.weight.sum() ** 2 / (self.weight**2).sum()
        low, high = clopper_pearson(np.array([self.error * size]), np.array([size]))
        return float(low[0]), float(high[0])

    @property
    def shares(self) -> Array:
        """Share of each class among the rows."""
        counts = np.bincount(self.actual, self.weight, minlength=len(self.labels))
        return counts / counts.sum()

    @property
    def commonest(self) -> str:
        return self.labels[int(self.shares.argmax())]

    @property
    def log_loss(self) -> float:
        given = self.probability[np.arange(self.n_rows), self.actual]
        return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=self.weight))

    @property
    def base_log_loss(self) -> float:
        """What the shares of the classes alone would get."""
        shares = self.shares[self.shares > 0]
        return float(-(shares * np.log(shares)).sum())

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Rows by actual class, columns by predicted class."""
        table = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        np.add.at(table, (self.actual, self.predicted), 1)
        return table

    def of_class(self, label: str) -> ClassMeasures:
        """One class against the rest."""
        k = self.labels.index(label)
        return ClassMeasures(label, self.actual == k, self.probability[:, k], self.weight)

    @property
    def judged(self) -> list[ClassMeasures]:
        """The scored classes that can be measured."""
        return [one for one in map(self.of_class, self.scored) if one.present]


def summary_facts(model: TableModel) -> dict[str, Any]:
    """The few numbers a command prints.

    Examples
    --------
    >>> from clearning.report import summary_facts
    >>> from clearning.tables import load_model
    >>> summary_facts(load_model("model.skops"))  # doctest: +SKIP
    """
    found = Measures.of(model)
    low, high = found.error_band
    sentence = (
        f"test: {found.n_wrong:,} of {count(found.n_rows, 'row')} wrong, {found.error:.2%} "
        f"(95% between {low:.1%} and {high:.1%}), log-loss {found.log_loss:.4f}; always "
        f"{found.commonest} is wrong in {1 - found.shares.max():.1%}"
    )
    return {
        "sentence": sentence,
        "classes": found.labels,
        "classifier": type(model.classifier).__name__,
        "candidates": model.record["candidates"],
        "test": {
            "rows": found.n_rows,
            "wrong": found.n_wrong,
            "error": found.error,
            "log_loss": found.log_loss,
            "area": {one.label: one.area for one in found.judged},
        },
        "dual_gap": float(model.classifier.dual_gap_),
        "objective": float(model.classifier.objective_),
        "problems": model.record["problems"],
        "seconds": model.record["seconds"],
    }
