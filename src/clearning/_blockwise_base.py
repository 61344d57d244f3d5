"""What the two blockwise classifiers share: blocks, the lock-step solver and predictions."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearning._blocks.checkpoint import Checkpoint
from clearning._blocks.engine import Source
from clearning._blocks.fit import BlockFit, Options, Reading, Solved
from clearning._blocks.predict import predict_blocks
from clearning._blocks.rows import BlockError
from clearning._blocks.sources import is_lazy, make_engine
from clearning._blocks.state import DONE
from clearning._class_path import ClassPath, class_loss
from clearning._linear_base import LINEAR_CONSTRAINTS, BaseLinearClassifier
from clearning._margin import needs_link
from clearning._problem import Grid, Start, check_penalty
from clearning._sklearn import Interval
from clearning.losses import Hinge, Loss, MultiCoherence
from clearning.path import RegularizationPath

BLOCKWISE_CONSTRAINTS: dict[str, list[Any]] = {
    **LINEAR_CONSTRAINTS,
    "max_iter": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "checkpoint": [str, PathLike, None],
}


class BaseBlockwiseClassifier(BaseLinearClassifier):
    """Input in blocks, and predictions for them."""

    loss: str | Loss
    random_state: Any
    n_jobs: int | None
    checkpoint: Any

    def _begin(self, source: Source, n_folds: int, start: Start | None = None) -> BlockFit:
        """Make the first pass, or find it in the checkpoint."""
        engine, n_threads = make_engine(source, self.n_jobs)
        seed = self.random_state
        if not isinstance(seed, Integral):
            if self.checkpoint is not None:
                raise ValueError(
                    f"random_state={seed!r} must be an integer where there is a checkpoint: a fit "
                    "that goes on draws the same rows."
                )
            seed = int(check_random_state(seed).randint(2**31 - 1))
        reading = Reading(self.class_weight, self.fit_intercept, n_folds, int(seed))
        names = source.feature_names
        given = getattr(source, "fold", None), start
        told = (self._told(), reading, source.n_parts, names, given)
        checkpoint = Checkpoint(self.checkpoint, told)
        fit = BlockFit(engine, reading, checkpoint, n_threads)
        self.n_features_in_ = fit.measures.scan.n_features
        self.feature_scales_ = fit.measures.scales(True)[0]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.classes_ = fit.measures.encoding.classes
        return fit

    def _told(self) -> dict[str, Any]:
        """Return the parameters that a checkpoint has to agree with."""
        silent = ("checkpoint", "n_jobs", "random_state", "cv")
        return {name: value for name, value in self.get_params().items() if name not in silent}

    def _options(self, loss: Loss, l1_ratio: float, grid: Grid) -> Options:
        m = len(self.classes_)
        return Options(
            loss=loss if m == 2 else _joint(loss, m),
            l1_ratio=l1_ratio,
            grid=grid,
            penalty=check_penalty(
                self.penalty_factor, self.bounds, self.n_features_in_, n_classes=m
            ),
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            settings=self._settings(),
        )

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> Any:
        """Return the scores f(x) = a + x'b, a column a class where there are more than two.

        Parameters
        ----------
        X : matrix, Dask collection, dataset, files or function
            The samples, in any form that ``fit`` takes.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores; for matrices only.

        Returns
        -------
        scores : ndarray, or lazy collection of X's kind
            Of two classes positive on the side of ``classes_[1]``.
        """
        if not is_lazy(X):
            return super().decision_function(X, offset=offset)
        check_is_fitted(self)
        names = ["score"] if len(self.classes_) == 2 else self._class_names()
        return self._in_blocks("score", X, offset, names, np.float64)

    def predict(self, X: Any, offset: ArrayLike | None = None, to_parquet: Any = None) -> Any:
        """Return the class on whose side the score is, or that of the largest score.

        Parameters
        ----------
        X, offset
            As for :meth:`decision_function`.
        to_parquet : path, default=None
            A new folder into which the predictions are written, a file a block.

        Returns
        -------
        y : ndarray, lazy collection of X's kind, or Path
            The classes; or the folder.
        """
        if to_parquet is None and not is_lazy(X):
            return super().predict(X, offset=offset)
        check_is_fitted(self)
        dtype = self.classes_.dtype
        return self._in_blocks("class", X, offset, ["prediction"], dtype, to_parquet)

    @needs_link
    def predict_proba(self, X: Any, offset: ArrayLike | None = None, to_parquet: Any = None) -> Any:
        """Return the class probabilities, by the loss's own inverse link.

        Parameters
        ----------
        X, offset, to_parquet
            As for :meth:`predict`.

        Returns
        -------
        probabilities : ndarray (n_samples, n_classes), lazy collection of X's kind, or Path
            One column per class, in the order of ``classes_``.
        """
        if to_parquet is None and not is_lazy(X):
            return super().predict_proba(X, offset=offset)
        check_is_fitted(self)
        names = self._class_names()
        return self._in_blocks("probability", X, offset, names, np.float64, to_parquet)

    def _class_names(self) -> list[str]:
        return [str(label) for label in self.classes_.tolist()]

    def _in_blocks(
        self, what: str, X: Any, offset: Any, names: list[str], dtype: Any, folder: Any = None
    ) -> Any:
        """Predict block by block, in the columns that the model knows."""
        check_is_fitted(self)
        if offset is not None:
            raise ValueError("offset is for matrices in memory; add it to lazy scores instead.")
        features = getattr(self, "feature_names_in_", None)
        return predict_blocks(
            X,
            partial(self._predict_block, what),
            features=None if features is None else list(features),
            names=names,
            dtype=dtype,
            to_parquet=folder,
        )

    def _predict_block(self, what: str, X: Any) -> Any:
        """Return scores, classes or probabilities of one block's rows."""
        if X.shape[1] != self.n_features_in_:
            raise BlockError(
                f"A block has {X.shape[1]} features, but the classifier was fitted with "
                f"{self.n_features_in_}."
            )
        scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        if not np.isfinite(scores).all():
            raise BlockError("X contains NaN, infinity or a value too large.")
        if len(self.classes_) == 2:
            scores = scores[:, 0]
        if what == "class":
            two = len(self.classes_) == 2
            return self.classes_[(scores > 0).astype(int) if two else scores.argmax(axis=1)]
        return scores if what == "score" else self.loss_.probabilities(scores)

    def _path(self, solved: Solved, part: int = 0) -> RegularizationPath:
        """Return the path of one part of the rows, on the original columns."""
        problem, state = solved.problem, solved.state
        p, width, centre = problem.n_features, problem.encoding.width, problem.encoding.centre
        coefs = np.zeros((len(problem.alphas), width, p))
        coefs[:, :, state.working] = state.coef[part]
        coefs = np.clip(coefs, problem.lower, problem.upper)  # a step rounds
        shift = 0.0 if centre is None else coefs @ centre
        intercepts = state.intercept[part] - shift
        names = getattr(self, "feature_names_in_", None)
        kind = RegularizationPath if width == 1 else ClassPath
        return kind(
            alphas=problem.alphas,
            sparse_coefs=sparse.csr_array(coefs.reshape(len(coefs), -1)),
            intercepts=intercepts[:, 0] if width == 1 else intercepts,
            objectives=state.objective[part],
            dual_gaps=state.gap[part],
            n_iters=np.full(len(problem.alphas), state.passes),
            converged=state.status[part] == DONE,
            null_objective=float(solved.null.objective[part]),
            loss=problem.loss,
            l1_ratio=problem.l1_ratio,
            classes=problem.encoding.classes,
            feature_names=None if names is None else tuple(names),
        )

    def _warn_unconverged(self, solved: Solved) -> None:
        open_ = solved.state.status != DONE
        if not open_.any():
            return
        gaps = np.where(open_, solved.state.gap, 0.0)
        part, k = np.unravel_index(np.argmax(gaps), gaps.shape)
        goal = solved.problem.goal[part]
        warnings.warn(
            f"{open_.sum()} of {open_.size} fits did not converge in {solved.state.passes} passes; "
            f"the worst is alpha={solved.problem.alphas[k]:.6g} with a duality gap of "
            f"{gaps[part, k]:.3g}, above tol * null objective = {goal:.3g}. Increase max_iter or "
            "tol.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _joint(loss: Loss, n_classes: int) -> MultiCoherence:
    """Return the joint form of a loss for more than two classes."""
    joint = class_loss(loss)
    if joint is None:
        raise ValueError(
            f"loss={loss.name!r} has no form that joins the {n_classes} classes of y, which blocks "
            "need; use loss='coherence' or loss='logistic'."
        )
    return joint


def check_curved(loss: Loss) -> Loss:
    """Return a loss that has a curvature."""
    if isinstance(loss, Hinge):
        raise ValueError(
            "loss='hinge' has no curvature for passes over blocks; use loss='coherence' with a "
            "small rho, which is within rho * log(2) of it."
        )
    return loss
