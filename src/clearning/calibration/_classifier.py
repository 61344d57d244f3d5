"""`CalibratedMarginClassifier`: probabilities around any classifier with a decision function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from clearning._door import check_labels, check_matrix, check_weight
from clearning._sklearn import (
    HasMethods,
    StrOptions,
    fit_context,
    routing_enabled,
    safe_indexing,
)
from clearning.calibration._calibrators import (
    CoherenceCalibrator,
    PlattCalibrator,
    SollichCalibrator,
)
from clearning.calibration._joint import JointCoherenceCalibrator, is_joint
from clearning.calibration._scores import fit_fold, score, two_columns, weight_name

Array = NDArray[np.float64]

# Scores of more than two classes have no zero in common, so there the link needs an offset; shared
# by the classes, it cannot change their order.
_METHODS: dict[str, Callable[[bool], Any]] = {
    "coherence": lambda several: CoherenceCalibrator(offset=several),
    "coherence-svm": lambda several: CoherenceCalibrator(u=1.0, offset=several),
    "temperature": lambda several: CoherenceCalibrator(u=0.0, offset=several),
    "platt": lambda several: PlattCalibrator(),
    "sollich": lambda several: SollichCalibrator(),
    "joint": lambda several: JointCoherenceCalibrator() if several else CoherenceCalibrator(),
}


class CalibratedClassifier(NamedTuple):
    """A fitted estimator and the calibrator fitted to its scores."""

    estimator: Any
    calibrator: Any


class CalibratedMarginClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Class probabilities for any classifier that has a decision function.

    A calibrator is fitted to scores the estimator gave to samples it had not seen, and turns the
    scores of the estimator fitted to all samples into probabilities. With the default method these
    never contradict the estimator's own predictions.

    Parameters
    ----------
    estimator : estimator
        A classifier with `decision_function`; inside a :class:`~sklearn.frozen.FrozenEstimator`
        it is calibrated as it is, on the samples given to `fit`.
    method : {"coherence", "coherence-svm", "temperature", "platt", "sollich", "joint"} or \
            calibrator, default="coherence"
        "coherence" is :class:`CoherenceCalibrator` as it comes, "coherence-svm" the one of Zhang,
        Liu, Dai and Jordan for an SVM (u = 1), "temperature" temperature scaling (u = 0),
        "platt" :class:`PlattCalibrator`, "sollich" :class:`SollichCalibrator`, and "joint", for
        more than two classes, :class:`JointCoherenceCalibrator`. A calibrator is any
        object with ``fit(scores, y, sample_weight)``, y of 0 and 1, and ``predict_proba(scores)``,
        which returns the probability of 1 in the last column or alone.
    cv : int, splitter, iterable, "train" or None, default=5
        How the scores for the calibrator are made: by cross-validation, or, with "train", on the
        training samples themselves, as the paper does; those are too good.
    ensemble : bool, default=False
        False refits the estimator to all samples. True keeps an estimator and a calibrator for
        each fold and averages their probabilities.
    n_jobs : int, default=None
        Number of folds fitted at once.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibrated_classifiers_ : list of CalibratedClassifier
        The fitted pairs ``(estimator, calibrator)``: one, or one for each fold.
    n_features_in_ : int
        Number of features, if the estimator has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the estimator has them.

    Notes
    -----
    *Two classes.* "coherence", "coherence-svm", "temperature" and "sollich" give the class on
    whose side of zero the score lies more than one half, in floating point too, and a score of
    exactly zero goes the way of the estimator's `predict`. So `predict`, which is the class of the
    largest probability, is the estimator's own where that follows the sign of the decision
    function, as it does for scikit-learn's and this package's margin classifiers; it is not for one
    with a threshold moved elsewhere. "platt", and calibrators with an offset, move the place where
    classes change, and `predict` follows them.

    *More than two classes.* One calibrator serves all classes: it is fitted to all scores, each
    class against the rest, and its probabilities are divided by their sum. One increasing function
    for all cannot change their order, so the largest probability is that of the largest score with
    any method. That is the estimator's prediction wherever `predict` takes the class of the largest
    score; an `SVC` predicts by the votes of pairs of classes, and agrees with its own decision
    function only with ``break_ties=True``. Not promised is that each class is calibrated by itself:
    what one class needs and another does not is averaged. "joint" makes all probabilities of all
    scores at once, by the link of the m-class coherence function, and keeps their order too.

    *Ensembles* have no single estimator to agree with: there `predict` is the class with the
    largest mean probability, too.

    *Sample weights* go to the estimator (the last step of a pipeline) and to the calibrator. With
    metadata routing enabled, the estimator gets what it requests.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from clearning import CalibratedMarginClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = make_pipeline(StandardScaler(), SVC())
    >>> model = CalibratedMarginClassifier(svm).fit(X, y)
    >>> proba = model.predict_proba(X)
    >>> (proba.argmax(axis=1) == model.predict(X)).all()
    np.True_
    """

    classes_: NDArray[Any]
    calibrated_classifiers_: list[CalibratedClassifier]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "method": [StrOptions(set(_METHODS)), HasMethods(["fit", "predict_proba"])],
        "cv": ["cv_object", StrOptions({"train"})],
        "ensemble": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: Any = "coherence",
        cv: Any = 5,
        ensemble: bool = False,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> CalibratedMarginClassifier:
        """Fit the estimator and the calibrator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the estimator and the calibrator.
        **fit_params : dict
            Passed to the estimator's `fit`, those of a sample's length fold by fold.

        Returns
        -------
        CalibratedMarginClassifier
            Itself.
        """
        X, y = check_matrix(X), check_labels(y)
        check_classification_targets(y)
        X, y = indexable(X, y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "Samples of two classes or more are needed, but y has "
                f"{len(self.classes_)} class: {self.classes_.tolist()}."
            )
        weight = check_weight(sample_weight, X)
        routed = self._route(weight, fit_params)
        if isinstance(self.estimator, FrozenEstimator) or isinstance(self.cv, str):
            estimator = clone(self.estimator).fit(X, y, **routed.estimator.fit)
            scores = score(estimator, X, self.classes_)
            pairs = [CalibratedClassifier(estimator, self._calibrator(scores, y, weight))]
        else:
            pairs = self._cross_fit(X, y, weight, routed)
        self.calibrated_classifiers_ = pairs
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(pairs[0].estimator, name):
                setattr(self, name, getattr(pairs[0].estimator, name))
        return self

    def _cross_fit(
        self, X: Any, y: Any, weight: Array | None, routed: Bunch
    ) -> list[CalibratedClassifier]:
        """Score each fold by an estimator fitted to the others, and calibrate."""
        splits = self._splits(X, y, routed)
        self._check_folds(np.asarray(y), splits, weight)
        folds = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_fold)(
                clone(self.estimator), X, y, self.classes_, train, test, routed.estimator.fit
            )
            for train, test in splits
        )
        tests = [test for _, test in splits]
        if self.ensemble:
            return [
                CalibratedClassifier(
                    estimator,
                    self._calibrator(
                        scores,
                        safe_indexing(y, test),
                        None if weight is None else weight[test],
                    ),
                )
                for (estimator, scores), test in zip(folds, tests)
            ]
        held_out = np.concatenate(tests)
        calibrator = self._calibrator(
            np.concatenate([scores for _, scores in folds]),
            safe_indexing(y, held_out),
            None if weight is None else weight[held_out],
        )
        estimator = clone(self.estimator).fit(X, y, **routed.estimator.fit)
        return [CalibratedClassifier(estimator, calibrator)]

    def _splits(
        self, X: Any, y: Any, routed: Bunch
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        cv = check_cv(self.cv, y, classifier=True)
        n_folds = self.cv if isinstance(self.cv, Integral) else getattr(cv, "n_splits", 0)
        smallest = np.unique(y, return_counts=True)[1].min()
        if smallest < n_folds:
            raise ValueError(
                f"Requesting {n_folds}-fold cross-validation but provided less than {n_folds} "
                "examples for at least one class."
            )
        every = np.arange(len(y))
        splits = cv.split(X, y, **routed.splitter.split)
        return [(every[train], every[test]) for train, test in splits]

    def _check_folds(
        self, y: NDArray[Any], splits: list[tuple[Any, Any]], weight: Array | None
    ) -> None:
        """Name the fold whose samples are not enough to fit, or to calibrate, two classes."""
        roles = {"train on": 0, "calibrate with (ensemble=True)": 1}
        for number, fold in enumerate(splits):
            for role, part in list(roles.items())[: 1 + self.ensemble]:
                labels = y[fold[part]]
                held = labels if weight is None else labels[weight[fold[part]] > 0]
                if len(np.unique(held)) < 2:
                    raise ValueError(
                        f"Fold {number} of the {len(splits)} of cv leaves only one class to "
                        f"{role}. Use fewer folds, or folds that are stratified by class."
                    )

    def _calibrator(self, scores: Array, y: Any, weight: Array | None) -> Any:
        """Fit the calibrator, of several classes to every score of each against the rest."""
        several = len(self.classes_) > 2
        if isinstance(self.method, str):
            calibrator = _METHODS[self.method](several)
        else:
            calibrator = clone(self.method, safe=False)
        labels = np.asarray(y)
        if several and is_joint(calibrator):
            return calibrator.fit(scores, labels, sample_weight=weight)
        if several:
            target = (labels[:, None] == self.classes_).astype(int).ravel()
            weight = None if weight is None else np.repeat(weight, len(self.classes_))
        else:
            target = (labels == self.classes_[1]).astype(int)
        if weight is None:
            return calibrator.fit(scores.ravel(), target)
        return calibrator.fit(scores.ravel(), target, sample_weight=weight)

    def _route(self, weight: Array | None, fit_params: dict[str, Any]) -> Bunch:
        """Find what goes to the estimator's `fit` and to the splitter."""
        if routing_enabled():
            return process_routing(self, "fit", sample_weight=weight, **fit_params)
        params = dict(fit_params)
        if weight is not None:
            name = weight_name(self.estimator)
            if name is None:
                warnings.warn(
                    f"Since {type(self.estimator).__name__} does not appear to accept "
                    "sample_weight, sample weights will only be used for the calibration itself.",
                    stacklevel=3,
                )
            else:
                params[name] = weight
        return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split={}))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels: the class of the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_matrix(X)
        if len(self.calibrated_classifiers_) > 1:
            return np.mean([self._proba(pair, X) for pair in self.calibrated_classifiers_], axis=0)
        return self._break_ties(self._proba(self.calibrated_classifiers_[0], X), X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, finite where a probability itself rounds to 0.

        Takes and returns what :meth:`predict_proba` does.
        """
        check_is_fitted(self)
        X = check_matrix(X)
        if len(self.calibrated_classifiers_) > 1:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        return self._break_ties(self._log_proba(self.calibrated_classifiers_[0], X), X)

    @available_if(lambda self: not self.ensemble or isinstance(self.estimator, FrozenEstimator))
    def decision_function(self, X: Any) -> Array:
        """Return the estimator's own scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.calibrated_classifiers_[0].estimator.decision_function(check_matrix(X))

    def _proba(self, pair: CalibratedClassifier, X: Any) -> Array:
        if len(self.classes_) > 2:
            return np.exp(self._log_proba(pair, X))
        return two_columns(pair.calibrator, score(pair.estimator, X, self.classes_))

    def _log_proba(self, pair: CalibratedClassifier, X: Any) -> Array:
        scores = score(pair.estimator, X, self.classes_)
        if is_joint(pair.calibrator):
            return pair.calibrator.predict_log_proba(scores)
        if hasattr(pair.calibrator, "predict_log_proba"):
            logs = np.asarray(pair.calibrator.predict_log_proba(scores.ravel()))
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(two_columns(pair.calibrator, scores.ravel()))
        if len(self.classes_) == 2:
            return logs
        # Where every class is excluded, nothing is known; logsumexp of -inf alone would be nan.
        logs = np.maximum(
            logs[:, 1].reshape(scores.shape), np.finfo(float).min / len(self.classes_)
        )
        return logs - logsumexp(logs, axis=1, keepdims=True)

    def _break_ties(self, values: Array, X: Any) -> Array:
        """Where two classes share the largest value, lift the estimator's choice by a rounding."""
        largest = values == values.max(axis=1, keepdims=True)
        rows = np.flatnonzero(largest.sum(axis=1) > 1)
        if len(rows):
            # Of all samples: not every kind of X can be asked for some of its rows.
            chosen = self.calibrated_classifiers_[0].estimator.predict(X)
            columns = np.searchsorted(self.classes_, chosen[rows])
            lifted = largest[rows, columns]
            cells = rows[lifted], columns[lifted]
            values[cells] = np.nextafter(values[cells], np.inf)
        return values

    def get_metadata_routing(self) -> MetadataRouter:
        """Say what metadata goes where.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        splitting = MethodMapping().add(caller="fit", callee="split")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=mapping)
            .add(splitter=self.cv, method_mapping=splitting)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
