"""The door to the compiled core: what it refuses, and in which words."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import clearning
from clearning import _core, clearning_path

N, P = 20, 5
LOSS = {"kind": "coherence", "rho": 1.0, "u": 1.0, "delta": 2.0, "kappa": 1.0}


def design():
    return np.asfortranarray(np.random.default_rng(0).standard_normal((N, P)))


def request(**changes):
    given = {
        "loss": LOSS,
        "y": np.where(np.arange(N) % 2, 1.0, -1.0),
        "weight": np.full(N, 1.0 / N),
        "offset": np.zeros(N),
        "l1_factor": np.ones(P),
        "l2_factor": np.ones(P),
        "lower": np.full(P, -np.inf),
        "upper": np.full(P, np.inf),
        "l1_ratio": 0.5,
        "tol": 1e-6,
        "max_iter": 1000,
        "fit_intercept": True,
        "alphas": None,
        "n_alphas": 3,
        "alpha_min_ratio": 0.1,
        "coef_init": None,
        "intercept_init": 0.0,
    }
    return {**given, **changes}


def test_what_the_door_lets_through():
    for answer in (
        _core.solve_dense(design(), request()),
        _core.solve_dense(design().astype(np.float32), request()),
        _core.solve_sparse(*parts_of(sp.csc_array(design())), N, request()),
    ):
        assert answer["alphas"].shape == (3,)
        assert np.all(answer["converged"])


# --- The request -------------------------------------------------------------------------------

VECTORS = {
    "y": N,
    "weight": N,
    "offset": N,
    "l1_factor": P,
    "l2_factor": P,
    "lower": P,
    "upper": P,
    "coef_init": P,
}


@pytest.mark.parametrize("name", request())
def test_missing_entries_are_named(name):
    if name == "intercept_init":
        given = request(coef_init=np.zeros(P))  # only a start needs one
    else:
        given = request()
    del given[name]
    with pytest.raises(ValueError, match=f"^{name} is missing from the request.$"):
        _core.solve_dense(design(), given)


@pytest.mark.parametrize(("name", "length"), VECTORS.items())
@pytest.mark.parametrize("off_by", [-1, 1])
def test_arrays_of_another_length_are_refused(name, length, off_by):
    given = request(**{name: np.ones(length + off_by)})
    words = f"^{name} has {length + off_by} entries; {length} are needed.$"
    with pytest.raises(ValueError, match=words):
        _core.solve_dense(design(), given)


@pytest.mark.parametrize(("name", "length"), [*VECTORS.items(), ("alphas", 3)])
@pytest.mark.parametrize("kind", ["float32", "integers", "strided", "two dimensions", "list"])
def test_arrays_of_another_kind_are_refused(name, length, kind):
    wrong = {
        "float32": np.ones(length, dtype=np.float32),
        "integers": np.ones(length, dtype=np.int64),
        "strided": np.ones(2 * length)[::2],
        "two dimensions": np.ones((length, 1)),
        "list": [1.0] * length,
    }[kind]
    words = f"^{name} must be a contiguous one-dimensional array of float64.$"
    with pytest.raises(ValueError, match=words):
        _core.solve_dense(design(), request(**{name: wrong}))


@pytest.mark.parametrize(
    "kind", ["hing", "", "Coherence", "logistic"], ids=["typo", "empty", "capital", "python's"]
)
def test_unknown_losses_are_refused(kind):
    words = f"^loss kind '{kind}' must be one of coherence, huberized_hinge, squared_hinge, hinge"
    with pytest.raises(ValueError, match=words):
        _core.solve_dense(design(), request(loss={**LOSS, "kind": kind}))
    with pytest.raises(ValueError, match=words):
        _core.evaluate_loss({**LOSS, "kind": kind}, np.zeros(3))


@pytest.mark.parametrize("name", ["rho", "delta", "kappa"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_parameters_of_losses_are_positive_and_finite(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be (positive|finite).$"):
        _core.solve_dense(design(), request(loss={**LOSS, name: value}))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("loss", "hinge", "loss must be a dictionary."),
        ("tol", 0.0, "tol must be positive."),
        ("tol", "small", "tol must be a number."),
        ("max_iter", 2**31, "max_iter must be an integer below 2147483648."),
        ("max_iter", 1.5, "max_iter must be an integer below 2147483648."),
        ("fit_intercept", 1.0, "fit_intercept must be True or False."),
        ("l1_ratio", np.nan, "l1_ratio must be finite."),
        ("n_alphas", 0, "n_alphas must be at least 1."),
        ("alpha_min_ratio", -0.1, "alpha_min_ratio must be positive."),
        ("alphas", np.empty(0), "alphas must hold at least one penalty."),
        ("alphas", np.array([0.1, 0.2]), "alphas must be positive, finite and descending."),
        ("alphas", np.array([0.1, 0.0]), "alphas must be positive, finite and descending."),
        ("alphas", np.array([np.inf]), "alphas must be positive, finite and descending."),
    ],
)
def test_values_that_make_no_sense_are_refused(name, value, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        _core.solve_dense(design(), request(**{name: value}))


# --- Designs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        np.ascontiguousarray(design()),
        design()[::2],
        design().astype(np.int64),
        design().astype(np.float16),
        design()[:, 0],
        design().tolist(),
    ],
    ids=["by rows", "strided", "integers", "half precision", "one dimension", "list"],
)
def test_dense_designs_of_another_kind_are_refused(X):
    """A copy would be made behind the user's back."""
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.solve_dense(X, request())


@pytest.mark.parametrize("shape", [(0, P), (N, 0)])
def test_empty_designs_are_refused(shape):
    with pytest.raises(ValueError, match="between 1 and 2147483647 rows"):
        _core.solve_dense(np.empty(shape, order="F"), request())


@pytest.mark.parametrize("shape", [(P, P - 1), (P + 1, P + 1), (P - 1, P)])
def test_kernel_penalties_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"^penalty must be square, with a row for each column"):
        _core.solve_kernel(design(), np.ones(shape, order="F"), request())


def parts_of(S):
    return [S.data, S.indices.astype(np.int32), S.indptr.astype(np.int32)]


def broken(**changes):
    data, indices, starts = parts_of(sp.csc_array(design() * (design() > 0)))
    return [
        changes.get("data", data),
        changes.get("indices", indices),
        changes.get("starts", starts),
    ]


def with_index(value):
    indices = broken()[1].copy()
    indices[len(indices) // 2] = value
    return broken(indices=indices)


@pytest.mark.parametrize("index", [-1, N, N + 1000, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_row_indices_out_of_range_are_refused(index, width):
    data, indices, starts = with_index(index)
    with pytest.raises(ValueError, match=r"^indices must lie between 0 and the number of rows.$"):
        _core.solve_sparse(data, indices.astype(width), starts.astype(width), N, request())


@pytest.mark.parametrize(
    "change",
    [
        lambda starts: starts[[0, 2, 1, 3, 4, 5]],
        lambda starts: starts + 1,
        lambda starts: starts - 1,
        lambda starts: np.append(starts[:-1], starts[-1] + 1),
        lambda starts: np.append(starts[:-1], -1),
        lambda starts: np.full_like(starts, -5),
    ],
    ids=["falls", "begins late", "begins early", "ends late", "ends below 0", "all below 0"],
)
def test_starts_of_columns_rise_from_zero(change):
    data, indices, starts = broken()
    with pytest.raises(ValueError, match=r"^indptr must rise from 0 to at most the number"):
        _core.solve_sparse(data, indices, change(starts).astype(np.int32), N, request())


@pytest.mark.parametrize("which", ["data", "indices"])
def test_short_sparse_arrays_are_refused(which):
    parts = dict(zip(("data", "indices", "starts"), broken()))
    with pytest.raises(ValueError, match=r"^indptr must rise from 0 to at most the number"):
        _core.solve_sparse(*broken(**{which: parts[which][:-1]}), N, request())


def test_a_sparse_design_has_columns_and_rows():
    data, indices, starts = broken()
    with pytest.raises(ValueError, match="one start more than there are columns"):
        _core.solve_sparse(data, indices, np.empty(0, dtype=np.int32), N, request())
    for rows, words in ((-1, "one start more"), (0, "between 1 and")):
        with pytest.raises(ValueError, match=words):
            _core.solve_sparse(data, indices, starts, rows, request())
    with pytest.raises(ValueError, match="between 1 and 2147483647 rows"):
        _core.solve_sparse(data, indices, starts[:1], N, request())


@pytest.mark.parametrize("which", [0, 1, 2])
def test_sparse_parts_of_another_kind_are_refused(which):
    for wrong in (lambda part: np.repeat(part, 2)[::2], lambda part: part.astype(np.int16)):
        parts = broken()
        parts[which] = wrong(parts[which])
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.solve_sparse(*parts, N, request())


# --- The environment ---------------------------------------------------------------------------


@pytest.mark.parametrize("wish", ["avx3", "AVX2"])
def test_unknown_instruction_sets_are_refused_when_the_core_is_loaded(wish):
    done = subprocess.run(
        [sys.executable, "-c", "from clearning import _core"],
        env={**os.environ, "CLEARNING_SIMD": wish},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    words = f"CLEARNING_SIMD={wish} must be baseline, avx2 or avx512, or unset."
    assert words in done.stderr


def test_integers_beyond_a_double_are_out_of_range():
    with pytest.raises(ValueError, match=r"rho=1000.* must be a number"):
        clearning_path(np.eye(4), [0, 1, 0, 1], rho=10**400)


@pytest.mark.parametrize(
    "model",
    [
        clearning.CLearningClassifier(),
        clearning.CLearningClassifierCV(),
        clearning.KernelCLearningClassifier(),
        clearning.KernelCLearningClassifierCV(),
        clearning.BlockwiseCLearningClassifier(),
        clearning.BlockwiseCLearningClassifierCV(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_integers_beyond_a_double_in_data_are_told(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    huge = X.astype(object)
    huge[3, 1] = 10**400
    for given in (huge, huge.tolist()):
        with pytest.raises(ValueError, match=r"X holds a number beyond ±1\.8e\+308"):
            clone(model).fit(given, y)
    with pytest.raises(ValueError, match="sample_weight holds a number beyond"):
        clone(model).fit(X, y, sample_weight=[10**400] * 40)
    with pytest.raises(ValueError, match=r"class_weight must hold .* got 1000.*0 for class 0\.$"):
        clone(model).set_params(class_weight={0: 10**400}).fit(X, y)
    with pytest.raises(ValueError, match="X holds a number beyond"):
        clone(model).fit(X, y).predict(huge)


def test_integers_beyond_a_double_in_paths_are_told():
    X, y = np.eye(4), [0, 1, 0, 1]
    huge = np.full((4, 4), 10**400, dtype=object)
    with pytest.raises(ValueError, match="X holds a number beyond"):
        clearning_path(huge, y)
    with pytest.raises(ValueError, match="K holds a number beyond"):
        clearning.kernel_clearning_path(huge, y)
    with pytest.raises(ValueError, match="penalty_kernel holds a number beyond"):
        clearning.kernel_clearning_path(X, y, penalty_kernel=huge)
    for name, value in (("penalty_factor", [10**400] * 4), ("offset", [10**400] * 4)):
        with pytest.raises(ValueError, match=f"{name} holds a number beyond"):
            clearning_path(X, y, **{name: value})
    with pytest.raises(ValueError, match=r"bounds=.* must be a pair"):
        clearning_path(X, y, bounds=(-1, 10**400))


@pytest.mark.parametrize("parameter", ["alpha", "gamma", "degree", "coef0"])
def test_integers_beyond_a_double_in_parameters_are_told(parameter):
    kernel = "rbf" if parameter in ("alpha", "gamma") else "poly"
    model = clearning.KernelCLearningClassifier(kernel=kernel, **{parameter: 10**400})
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter .* must be .*a float"):
        model.fit(np.eye(4), [0, 1, 0, 1])


# --- Lines through held-out scores -------------------------------------------------------------


def test_lines_of_arrays_that_do_not_fit_are_refused():
    scores, y, weights = design() / 10.0, request()["y"], np.ones(N)
    scales, offsets = _core.fit_logit_lines(scores, y, weights, 0.5, np.inf)
    assert scales.shape == offsets.shape == (P,)
    assert not offsets.any()
    with pytest.raises(ValueError, match="as many rows"):
        _core.fit_logit_lines(scores, y[1:].copy(), weights, 0.5, np.inf)
    with pytest.raises(ValueError, match="doubt must be positive"):
        _core.fit_logit_lines(scores, y, weights, 0.0, np.inf)
    with pytest.raises(TypeError):
        _core.fit_logit_lines(scores.astype(np.float32), y, weights, 0.5, np.inf)
