"""Small solves run on one BLAS thread, whatever the environment says, and leave it as it was."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from clearning import _designs, _expansion, clearning_path, kernel_clearning_path
from clearning._threads import WORTH_THREADS, threads_for


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS has one thread only")
        yield


def test_work_gates_the_threads():
    with threads_for(WORTH_THREADS - 1):
        assert blas_threads() == {1}
    with threads_for(WORTH_THREADS):
        assert blas_threads() == {2}
    assert blas_threads() == {2}


def test_solves_that_overlap_leave_what_they_found():
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with threads_for(1):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with threads_for(1):
        thread.start()
        assert entered.wait(10)
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def test_an_error_restores_them_too():
    with pytest.raises(RuntimeError), threads_for(1):
        raise RuntimeError
    assert blas_threads() == {2}


@pytest.mark.parametrize("kernel", [False, True])
def test_paths_use_one_thread_inside(kernel, monkeypatch):
    seen = []
    module, name = (_expansion, "solve_kernel") if kernel else (_designs, "solve_dense")
    solve = getattr(module._core, name)

    def watched(*args):
        seen.append(blas_threads())
        return solve(*args)

    monkeypatch.setattr(module._core, name, watched)
    X = np.random.default_rng(0).standard_normal((20, 5))
    (kernel_clearning_path if kernel else clearning_path)(X @ X.T if kernel else X, X[:, 0] > 0)
    assert seen == [{1}]
    assert blas_threads() == {2}
