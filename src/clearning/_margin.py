"""What all classifiers share: the way from a score to a class, a probability or the error that
says why there is none."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from clearning._problem import Settings, check_settings
from clearning._ranges import COUNT, LARGEST
from clearning._sklearn import Interval, StrOptions
from clearning.losses import LOSS_NAMES, Loss, has_link

# scikit-learn's own checks, and so its own words, for what every classifier here takes.
COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "loss": [StrOptions(set(LOSS_NAMES)), Loss],
    "delta": [Interval(Real, 0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, COUNT.high, closed="both")],
}
SINGLE_FIT_CONSTRAINTS: dict[str, list[Any]] = {
    "rho": [Interval(Real, 0, None, closed="neither")],
    "u": [Interval(Real, 0, None, closed="left")],
    "alpha": [Interval(Real, 0, LARGEST, closed="right")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "warm_start": ["boolean"],
}


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
        if getattr(instance, "calibrate", False) is True:
            return MethodType(self.method, instance)
        loss = instance.loss_ if hasattr(instance, "loss_") else instance.loss
        if not has_link(loss):
            raise AttributeError(
                f"{type(instance).__name__!r} has no attribute {self.method.__name__!r} with "
                f"loss={getattr(loss, 'name', loss)!r}, which has no link to probabilities. Wrap "
                "the classifier in CalibratedMarginClassifier, or choose loss='coherence' or "
                "loss='logistic'."
            )
        return MethodType(self.method, instance)


class MarginClassifierMixin(ClassifierMixin):
    """Predictions from a score f(x): its sign, and the loss's inverse link η̃(f); of m > 2 classes
    the largest of m scores and their joint inverse link.

    A class that mixes this in has ``decision_function(X, offset=None)``, ``classes_`` and
    ``loss_``; a ``calibrator_`` takes the place of the loss's link. The class predicted is always
    that of the largest probability: either is > 1/2 exactly where f > 0.
    """

    tol: float
    max_iter: int
    classes_: NDArray[Any]
    loss_: Loss
    calibrator_: Any = None
    decision_function: Callable[..., NDArray[Any]]

    def predict(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the likeliest class: the one on whose side the score is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores; of shape (n_samples, n_classes) for more than two classes.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            ``classes_[1]`` where the score is positive, ``classes_[0]`` elsewhere; of more than two
            classes the one with the largest score. It is the class of the largest probability.
        """
        scores = self.decision_function(X, offset=offset)
        if scores.ndim == 2:
            return self.classes_[scores.argmax(axis=1)]
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
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        scores = self.decision_function(X, offset=offset)
        if self.calibrator_ is not None:
            return self.calibrator_.predict_proba(scores)
        return self.loss_.probabilities(scores)

    @needs_link
    def predict_log_proba(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X, offset
            As for :meth:`predict_proba`.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset=offset))

    def plot(self) -> Any:
        """Draw the fitted model.

        Returns
        -------
        matplotlib Figure
            The cross-validation curve and the path where the penalty was searched for; else the
            coefficients.
        """
        # Not at the top: only who draws needs matplotlib.
        from clearning.display.model import plot_model

        return plot_model(self)

    def _settings(self) -> Settings:
        return check_settings(self.tol, self.max_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
