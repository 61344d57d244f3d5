"""The compiled core: its loss, its instruction sets, the memory it leaves alone, its interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from linear_oracles import make_data

from clearning import _core, clearning_path
from clearning._core_input import core_loss
from clearning.losses import CLoss, Coherence, Hinge, HuberizedHinge, Logistic, SquaredHinge

# --- One loss, written twice -------------------------------------------------------------------

LOSSES = [
    Logistic(),
    CLoss(),
    *(CLoss(rho, u) for rho in (0.05, 0.3, 10.0, 100.0) for u in (0.1, 1.0, 5.0)),
    *(Coherence(rho, u) for rho in (0.001, 1.0) for u in (0.0, 2.0)),
    HuberizedHinge(),
    HuberizedHinge(0.1),
    SquaredHinge(),
    Hinge(),
]
MARGINS = np.unique(
    np.concatenate(
        [
            np.linspace(-8.0, 8.0, 1601),
            np.random.default_rng(0).normal(1.0, 0.1, 500),
            np.multiply.outer([-1.0, 1.0], np.logspace(-12, 6, 200)).ravel(),
        ]
    )
)
# At a kink any subgradient will do, and each side has its own.
KINKS = np.array([1.0, -1.0, 0.9])
MARGINS = MARGINS[np.abs(MARGINS[:, None] - KINKS).min(axis=1) > 1e-9]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_loss_is_the_one_in_python(loss):
    here = _core.evaluate_loss(core_loss(loss), MARGINS)
    for name, relative in (("value", 1e-12), ("gradient", 1e-12), ("hessian", 1e-11)):
        expected = getattr(loss, name)(MARGINS)
        floor = 1e-14 * np.abs(expected[np.abs(MARGINS) < 10]).max()
        np.testing.assert_allclose(
            here[name], expected, rtol=relative, atol=floor, err_msg=f"{name} of {loss}"
        )


# --- Instruction sets --------------------------------------------------------------------------

PATHS = """
import json
import numpy as np, scipy.sparse as sp
from clearning import _core, clearning_path, kernel_clearning_path
rng = np.random.default_rng(0)
X = rng.standard_normal((67, 41))
y = np.where(X[:, 0] - X[:, 1] + rng.standard_normal(67) > 0, 1, -1)
designs = {
    "dense": X,
    "float32": X.astype(np.float32),
    "sparse": sp.csc_array(X * (rng.random(X.shape) < 0.3)),
}
coefs = {}
for loss in ("coherence", "logistic", "huberized_hinge", "squared_hinge"):
    for name, D in designs.items():
        path = clearning_path(D, y, loss=loss, alphas=8, alpha_min_ratio=0.05, tol=1e-12)
        coefs[f"{loss} {name}"] = path.coefs.tolist()
K = np.exp(-((X[:, None, :3] - X[None, :, :3]) ** 2).sum(-1))
coefs["kernel"] = kernel_clearning_path(K, y, alphas=6, tol=1e-12).coefs.tolist()
print(json.dumps({"simd": _core.simd, "coefs": coefs}))
"""


def paths_with(instructions):
    environment = {k: v for k, v in os.environ.items() if k != "CLEARNING_SIMD"}
    if instructions is not None:
        environment["CLEARNING_SIMD"] = instructions
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PATHS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def baseline():
    answer = paths_with("baseline")
    assert answer["simd"] == "baseline"
    return answer["coefs"]


@pytest.mark.parametrize("instructions", ["avx2", None], ids=["avx2", "best"])
def test_instruction_sets_give_the_same_paths(baseline, instructions):
    answer = paths_with(instructions)
    if answer["simd"] == "baseline":
        pytest.skip("this machine has no AVX2 with FMA")
    assert answer["simd"] == "avx2" or (instructions is None and answer["simd"] == "avx512")
    assert answer["coefs"].keys() == baseline.keys()
    for name, coefs in answer["coefs"].items():
        np.testing.assert_allclose(coefs, baseline[name], atol=2e-6, err_msg=name)


# --- Designs that are used in place ------------------------------------------------------------

MEMORY = """
import sys
import numpy as np, scipy.sparse as sp
from clearning import clearning_path
def peak():
    # Not getrusage's: that begins with what the process had that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
rng = np.random.default_rng(0)
n, p = 100_000, 250
y = np.arange(n) % 2
if sys.argv[1] == "dense":
    X = np.empty((n, p), order="F")
    for j in range(p):
        X[:, j] = rng.standard_normal(n) + 0.1 * y
    size = X.nbytes
else:
    stored = 66_000
    data = rng.standard_normal(p * stored)
    indices = np.tile(np.arange(stored, dtype=np.int32), p)
    X = sp.csc_array((data, indices, np.arange(p + 1, dtype=np.int32) * stored), (n, p))
    size = data.nbytes + indices.nbytes
clearning_path(X[:100], y[:100], alphas=2)
before = peak()
if sys.argv[2] == "copy":
    X = X.copy()
path = clearning_path(X, y, alphas=[1.0, 0.03], tol=1e-3)
print((peak() - before) / size)
"""


def growth(kind, *, copy):
    """Peak memory of a fit beyond its 200 MB design, in designs."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, kind, "copy" if copy else "no"],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux counts it")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_designs_by_columns_are_not_copied(kind):
    assert growth(kind, copy=False) < 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux counts it")
def test_a_copy_would_be_seen():
    assert growth("dense", copy=True) > 0.9


def test_read_only_memory_maps(tmp_path):
    X, y = make_data(n=50, p=7)
    file = tmp_path / "design.npy"
    np.save(file, np.asfortranarray(X))
    mapped = np.load(file, mmap_mode="r")
    assert not mapped.flags.writeable
    expected = clearning_path(X, y, alphas=5).coefs
    np.testing.assert_array_equal(clearning_path(mapped, y, alphas=5).coefs, expected)


def test_designs_are_not_written_to():
    X, y = make_data(n=50, p=7)
    for D in (np.asfortranarray(X), sp.csc_array(X)):
        parts = [D] if isinstance(D, np.ndarray) else [D.data, D.indices, D.indptr]
        for part in parts:
            part.flags.writeable = False
        before = [part.copy() for part in parts]
        clearning_path(D, y, standardize=True, alphas=5)
        for part, same in zip(parts, before):
            np.testing.assert_array_equal(part, same)


# --- Interrupts --------------------------------------------------------------------------------

LONG = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from clearning import clearning_path
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((3000, 1500)))
X += 5 * rng.standard_normal((3000, 1))
y = np.where(rng.random(3000) < 0.5, 1, -1)
print("ready", flush=True)
try:
    clearning_path(X, y, rho=0.05, alphas=100, alpha_min_ratio=1e-5, tol=1e-14)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(3)
print("finished", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
def test_an_interrupt_ends_a_long_solve():
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LONG], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        try:
            answer, _ = child.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
    assert answer == "interrupted\n"
    assert child.returncode == 3
