"""Paths of more than two classes, or of grouped features: the compiled joint solver's Python face.

P(a, B) = (1/n) Σ wᵢ κV(oᵢ + a + B'xᵢ, cᵢ) + α Σⱼ pⱼ [(1−ω)/2 ‖Bⱼ‖² + ω‖Bⱼ‖], with the ℓ₁ norm of
each row Bⱼ, its ℓ₂ norm, or that of a group of rows; with a kernel kᵢ is in the place of xᵢ, and
tr(B'KB) in that of Σ‖Bⱼ‖². Losses without a joint form are solved one class against the rest. Two
classes with groups are the joint problem with B = ±b/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse

from clearning._core_input import core_settings, read_path
from clearning._designs import Array, Features
from clearning._problem import Grid, Problem, Settings, Start
from clearning.losses import CLoss, Coherence, Logistic, Loss, MultiCoherence
from clearning.path import RegularizationPath, solve_two_classes

_JOINT = {CLoss: True, Coherence: False, Logistic: False}


@dataclass(frozen=True)
class ClassPath(RegularizationPath):
    """A path of m > 2 classes: the attributes of :class:`RegularizationPath` with a row a class.

    Attributes
    ----------
    coefs : ndarray of shape (n_alphas, n_classes, n_features)
        Coefficients, of kernel functions where there is a kernel. Where the ℓ₁ norm alone
        penalises a feature's row, rows that differ by a constant can have the same objective; the
        one that the solver reached is returned.
    intercepts : ndarray of shape (n_alphas, n_classes)
        Intercepts, which sum to zero over the classes where the fit is joint.
    """

    @cached_property
    def coefs(self) -> np.ndarray:
        """Coefficients as a dense array."""
        return self.sparse_coefs.toarray().reshape(len(self.alphas), len(self.classes), -1)

    @property
    def _n_features(self) -> int:
        return self.sparse_coefs.shape[1] // len(self.classes)

    def solution(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts of one penalty, a row a class."""
        row = self.sparse_coefs[[index]].toarray()
        return row.reshape(len(self.classes), -1), self.intercepts[index].copy()

    def start(self, index: int) -> Start:
        """One penalty's solution, to start another solve from."""
        return Start(*self.solution(index))

    def coef_at(self, alpha: float) -> tuple[Any, Any]:
        """Coefficients (n_classes, n_features) and intercepts (n_classes,) at any penalty."""
        coef, intercept = self._row_at(alpha)
        return coef.reshape(len(self.classes), -1), intercept

    def decision_function(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Scores at one penalty, (n_samples, m), or at all of them, (n_samples, n_alphas, m)."""
        X = self._check(X)
        if alpha is None:
            return self.scores(X)
        coef, intercept = self.coef_at(alpha)
        return np.asarray(X @ coef.T) + intercept

    def scores(self, X: Any) -> np.ndarray:
        """Scores at all penalties of a matrix that is checked already."""
        flat = self.coefs.reshape(-1, self.coefs.shape[2])
        return np.asarray(X @ flat.T).reshape(X.shape[0], *self.intercepts.shape) + self.intercepts

    def predict(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Class labels: the largest score."""
        return self.classes[self.decision_function(X, alpha).argmax(axis=-1)]


def class_loss(loss: Loss | MultiCoherence) -> MultiCoherence | None:
    """Return the joint form of a loss for many classes, or None where it has none."""
    if isinstance(loss, MultiCoherence):
        return loss
    if type(loss) not in _JOINT:
        return None
    return MultiCoherence(loss.rho, loss.u, scaled=_JOINT[type(loss)])


def solve_class_path(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None,
) -> RegularizationPath:
    """Solve a checked problem of many classes, or with groups, along its penalties."""
    joint, two = class_loss(loss), problem.target.n_classes == 2
    if joint is None and problem.penalty.groups is not None:
        raise ValueError(
            f"groups need a loss that joins the classes, 'coherence' or 'logistic'; got "
            f"loss={loss.name!r}, which is fitted one class against the rest. Use groups=None."
        )
    if joint is None:
        return _solve_against_rest(problem, loss, l1_ratio, grid, settings, start)
    scaled, rows = _in_units(problem), _in_rows(start, two)
    request = _request(scaled, joint, l1_ratio, grid, settings, rows)
    raw = scaled.design.solve_classes(request)
    return _read_two(problem, raw, loss, l1_ratio) if two else _read(problem, raw, joint, l1_ratio)


def _in_units(problem: Problem) -> Problem:
    """Return the problem whose groups of standardised columns are groups of the columns given.

    The norm of a group is that of coefficients in units of their columns, which are divided by
    them: a factor for each coefficient would not do.
    """
    groups = problem.penalty.groups
    if groups is None or len(np.unique(groups)) == len(groups) or (problem.scales == 1.0).all():
        return problem
    X, inverse = cast(Features, problem.design).columns, 1.0 / problem.scales
    divided = (X @ sparse.diags_array(inverse)).tocsc() if sparse.issparse(X) else X * inverse
    return replace(problem, design=Features(divided))


def _request(
    problem: Problem,
    loss: MultiCoherence,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None,
) -> dict[str, Any]:
    """Describe a joint solve to the compiled core; coefficients come feature by feature there."""
    target, penalty = problem.target, problem.penalty
    m, p, two = target.n_classes, problem.design.n_columns, target.n_classes == 2
    scales = _block_scales(problem)
    # With two classes B = ±b/2: what is asked of b is asked of B times these.
    l1_unit, l2_unit = (np.sqrt(2.0), 2.0) if two else (1.0, 1.0)
    return {
        "loss": {"rho": loss.rho, "u": loss.u, "kappa": loss.scale(m)},
        "n_classes": m,
        "label": target.codes.astype(np.float64),
        "weight": target.shares,
        "offset": _offsets(problem),
        "groups": None if penalty.groups is None else penalty.groups.astype(np.float64),
        "l1_factor": l1_unit * penalty.factor * scales,
        "l2_factor": l2_unit * penalty.factor * scales**2,
        "lower": _by_feature(penalty.lower, m, p),
        "upper": _by_feature(penalty.upper, m, p),
        "coef_init": None if start is None else _start_of(start, problem),
        "intercept_init": None if start is None else np.ascontiguousarray(start.intercept),
        **core_settings(problem, l1_ratio, grid, settings),
    }


def _block_scales(problem: Problem) -> Array:
    """Return the units of the columns, or of groups: those of single columns are the columns'."""
    groups = problem.penalty.groups
    if groups is None:
        return problem.scales
    scales = np.ones(int(groups.max()) + 1)
    scales[groups] = problem.scales
    return scales


def _by_feature(values: Array | float, m: int, p: int) -> Array:
    """Return one number a coefficient, feature by feature, of numbers given class by class."""
    return np.ravel(np.broadcast_to(values, (m, p)), order="F").copy()


def _offsets(problem: Problem) -> Array:
    """Return the offsets class by class; one score's offset is half and half of two."""
    target = problem.target
    n, m = len(target.codes), target.n_classes
    if target.offset is None:
        return np.zeros(n * m)
    if m == 2:
        return np.concatenate([-0.5 * target.offset, 0.5 * target.offset])
    return np.ravel(target.offset, order="F").copy()


def _in_rows(start: Start | None, two: bool) -> Start | None:
    """Return a start with a row a class."""
    if start is None or not two:
        return start
    half = 0.5 * np.asarray(start.intercept)
    return Start(np.stack([-0.5 * start.coef, 0.5 * start.coef]), np.array([-half, half]))


def _start_of(start: Start, problem: Problem) -> Array:
    inside = np.clip(start.coef, problem.penalty.lower, problem.penalty.upper)
    return np.ravel(inside, order="F").copy()


def _read(problem: Problem, raw: dict[str, Any], loss: Any, l1_ratio: float) -> RegularizationPath:
    """Return the path that the core's answer describes."""
    m = problem.target.n_classes
    fields = read_path(problem, raw, m * problem.design.n_columns, loss, l1_ratio)
    fields["sparse_coefs"] = _in_original_units(fields["sparse_coefs"], problem)
    fields["intercepts"] = fields["intercepts"].reshape(-1, m)
    return ClassPath(**fields)


def _in_original_units(coefs: Any, problem: Problem) -> Any:
    if _in_units(problem) is problem:
        return coefs
    coefs.data /= problem.scales[coefs.indices % problem.design.n_columns]
    return coefs


def _read_two(
    problem: Problem, raw: dict[str, Any], loss: Loss, l1_ratio: float
) -> RegularizationPath:
    """Return the path of one score, f = g₁ − g₀."""
    joint = _read(problem, raw, loss, l1_ratio)
    p = problem.design.n_columns
    coefs = sparse.csr_array(joint.sparse_coefs[:, p:] - joint.sparse_coefs[:, :p])
    coefs.eliminate_zeros()
    names = RegularizationPath.__dataclass_fields__
    values = {name: getattr(joint, name) for name in names}
    values |= {
        "sparse_coefs": coefs,
        "intercepts": joint.intercepts[:, 1] - joint.intercepts[:, 0],
    }
    return RegularizationPath(**values)


def _solve_against_rest(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None,
) -> ClassPath:
    """Solve each class against the rest on one grid; objectives and gaps are sums over them."""
    m = problem.target.n_classes
    parts = [_against_rest(problem, k) for k in range(m)]
    if grid.alphas is None:
        first = Grid(None, 1)
        tops = [
            solve_two_classes(part, loss, l1_ratio, first, settings).alphas[0] for part in parts
        ]
        grid = Grid.of(grid.below(max(tops), problem.design))
    starts = [None if start is None else Start(start.coef[k], start.intercept[k]) for k in range(m)]
    paths = [
        solve_two_classes(part, loss, l1_ratio, grid, settings, own)
        for part, own in zip(parts, starts)
    ]
    return ClassPath(
        alphas=paths[0].alphas,
        sparse_coefs=sparse.csr_array(sparse.hstack([path.sparse_coefs for path in paths])),
        intercepts=np.stack([path.intercepts for path in paths], axis=1),
        objectives=np.sum([path.objectives for path in paths], axis=0),
        dual_gaps=np.sum([path.dual_gaps for path in paths], axis=0),
        n_iters=np.sum([path.n_iters for path in paths], axis=0),
        converged=np.all([path.converged for path in paths], axis=0),
        null_objective=sum(path.null_objective for path in paths),
        loss=loss,
        l1_ratio=l1_ratio,
        classes=problem.target.classes,
        feature_names=paths[0].feature_names,
    )


def _against_rest(problem: Problem, k: int) -> Problem:
    """Return the problem of one class against all others."""
    penalty = problem.penalty

    def row(values: Any) -> Any:
        return values if np.ndim(values) == 0 else values[k]

    return replace(
        problem,
        target=problem.target.against_rest(k),
        penalty=replace(penalty, lower=row(penalty.lower), upper=row(penalty.upper)),
    )
