"""What the linear and the kernel classifiers share: checked targets, and the way from a score to a
class, a probability or the error that says why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, _num_samples

from clearning.losses import Loss, make_loss

# On its first check scikit-learn searches all installed packages for kinds of data frames, which
# takes longer than a small fit. Done here, no fit has to wait for it.
check_array(np.zeros((1, 1)))

LOSS_NAMES = frozenset({"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"})

# scikit-learn's own checks, and so its own words, for what every classifier here takes.
COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "loss": [StrOptions(set(LOSS_NAMES)), Loss],
    "delta": [Interval(Real, 0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}
SINGLE_FIT_CONSTRAINTS: dict[str, list[Any]] = {
    "rho": [Interval(Real, 0, None, closed="neither")],
    "u": [Interval(Real, 0, None, closed="neither")],
    "alpha": [Interval(Real, 0, None, closed="neither")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "warm_start": ["boolean"],
}


@dataclass(frozen=True)
class Target:
    """The checked side of a problem that is not the design.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The two labels, sorted; the second is the positive one.
    signs : ndarray of shape (n_samples,)
        −1 for the first class, +1 for the second.
    weight : ndarray of shape (n_samples,) or None
        Class weight times sample weight.
    offset : ndarray of shape (n_samples,) or None
        What is added to each sample's score.
    """

    classes: NDArray[Any]
    signs: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None


def target_rows(target: Target, rows: NDArray[np.intp]) -> Target:
    """Return the target of some of the samples."""

    def take(values: NDArray[Any] | None) -> Any:
        return None if values is None else values[rows]

    return replace(
        target, signs=target.signs[rows], weight=take(target.weight), offset=take(target.offset)
    )


def check_target(
    X: Any,
    y: NDArray[Any],
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | str | None = None,
    offset: ArrayLike | None = None,
) -> Target:
    """Encode the labels, multiply the weights and check the offset."""
    classes, codes = encode_labels(y)
    return Target(
        classes=classes,
        signs=np.where(codes == 1, 1.0, -1.0),
        weight=check_weight(X, classes, codes, sample_weight, class_weight),
        offset=None if offset is None else check_offset(X, offset),
    )


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the two classes and, for each sample, the index of its own."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        kind = type_of_target(y, input_name="y")
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}. y has {len(classes)} classes."
        )
    if len(classes) < 2:
        raise ValueError(
            "Samples of two classes are needed, but y contains only one class: "
            f"{classes.tolist()[0]!r}."
        )
    return classes, codes.reshape(-1)


def check_weight(
    X: Any,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    sample_weight: ArrayLike | None,
    class_weight: dict[Any, float] | str | None,
) -> NDArray[np.float64] | None:
    """Return class weight times sample weight, or None where every sample counts the same."""
    if sample_weight is None and class_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    totals = np.bincount(codes, weights=weight, minlength=2)
    if not totals.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if not totals.all():
        raise ValueError(
            "Samples of two classes are needed, but every sample of class "
            f"{classes.tolist()[int(np.argmin(totals))]!r} has sample_weight 0."
        )
    if class_weight is None:
        return weight
    if class_weight == "balanced":
        # Weighted counts, so that a weight of two is the same as a sample seen twice.
        per_class = totals.sum() / (2.0 * totals)
    else:
        per_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        _check_class_weights(classes, per_class)
    return weight * per_class[codes]


def _check_class_weights(classes: NDArray[Any], per_class: NDArray[np.float64]) -> None:
    for label, value in zip(classes.tolist(), per_class.tolist()):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(
                f"class_weight must hold positive, finite numbers; got {value} for class {label!r}."
            )


def check_offset(X: Any, offset: ArrayLike) -> NDArray[np.float64]:
    """Return the offset as one finite float64 per row of X."""
    checked = check_array(offset, ensure_2d=False, dtype=np.float64, input_name="offset")
    n_samples = _num_samples(X)
    if checked.shape != (n_samples,):
        raise ValueError(f"offset must be of shape ({n_samples},); got shape {checked.shape}.")
    return checked


def check_values(
    name: str, values: ArrayLike, low: float, high: float, *, closed: bool
) -> NDArray[np.float64]:
    """Return a grid of hyperparameter values that all lie in [low, high], or (low, high)."""
    checked = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if checked.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {checked.shape}.")
    inside = (low <= checked) & (checked <= high) if closed else (low < checked) & (checked < high)
    if not inside.all():
        left, right = "[]" if closed else "()"
        allowed, value = f"{left}{low:g}, {high:g}{right}", checked[~inside][0]
        raise ValueError(f"{name} must hold numbers in {allowed}; got {value:g}.")
    return checked


class needs_link:
    """A method that is there only where the loss has a link to probabilities, or gets one.

    scikit-learn's ``available_if`` replaces the message of the check by its own; here the
    AttributeError itself has to say what to do instead.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        if instance is None:
            return self.method
        if getattr(instance, "calibrate", False):
            return MethodType(self.method, instance)
        loss = getattr(instance, "loss_", None)
        if loss is None:
            loss = make_loss(instance.loss, delta=instance.delta)
        if not loss.has_link:
            raise AttributeError(
                f"{type(instance).__name__!r} has no attribute {self.method.__name__!r} with "
                f"loss={loss.name!r}, which has no link to probabilities. Wrap the classifier in "
                "CalibratedMarginClassifier, or choose loss='coherence' or loss='logistic'."
            )
        return MethodType(self.method, instance)


class MarginClassifierMixin(ClassifierMixin):
    """Predictions from a score f(x): its sign, and the loss's inverse link η̃(f).

    A class that mixes this in has ``decision_function(X, offset=None)``, ``classes_`` and
    ``loss_``; a ``calibrator_`` takes the place of the loss's link. As either is > 1/2 exactly
    where f > 0, classes and probabilities never disagree.
    """

    classes_: NDArray[Any]
    loss_: Loss
    calibrator_: Any = None
    decision_function: Callable[..., NDArray[Any]]

    def predict(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the class on whose side the score is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            ``classes_[1]`` where the score is positive, ``classes_[0]`` elsewhere.
        """
        scores = self.decision_function(X, offset=offset)
        return self.classes_[(scores > 0).astype(np.intp)]

    @needs_link
    def predict_proba(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the class probabilities, by the calibrator or the loss's own inverse link.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        scores = self.decision_function(X, offset=offset)
        if self.calibrator_ is not None:
            return self.calibrator_.predict_proba(scores)
        # Each column from its own side, so that neither is the difference of 1 and nearly 1.
        inverse_link = self.loss_.inverse_link
        return np.column_stack([inverse_link(-scores), inverse_link(scores)])

    @needs_link
    def predict_log_proba(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset=offset))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
