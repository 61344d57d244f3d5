"""The compiled core, as the rest of the package sees it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str
simd: str

def solve_dense(X: NDArray[Any], request: dict[str, Any]) -> dict[str, Any]: ...
def solve_sparse(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_rows: int,
    request: dict[str, Any],
) -> dict[str, Any]: ...
def solve_kernel(
    K: NDArray[Any], penalty: NDArray[Any], request: dict[str, Any]
) -> dict[str, Any]: ...
def solve_dense_classes(X: NDArray[Any], request: dict[str, Any]) -> dict[str, Any]: ...
def solve_kernel_classes(
    K: NDArray[Any], penalty: NDArray[Any], request: dict[str, Any]
) -> dict[str, Any]: ...
def solve_sparse_classes(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_rows: int,
    request: dict[str, Any],
) -> dict[str, Any]: ...
def evaluate_loss(
    loss: dict[str, Any], margins: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]: ...
def dense_block(
    X: NDArray[Any], samples: dict[str, Any], plan: dict[str, Any]
) -> dict[str, NDArray[np.float64]]: ...
def sparse_block(
    data: NDArray[np.float64],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_columns: int,
    samples: dict[str, Any],
    plan: dict[str, Any],
) -> dict[str, NDArray[np.float64]]: ...
def fit_logit_lines(
    scores: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    doubt: float,
    hold: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def descend_by_rows(
    data: NDArray[np.float64],
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    h: NDArray[np.float64],
    intercept: bool,
    model: dict[str, Any],
) -> tuple[NDArray[np.float64], float]: ...
def descend(gram: NDArray[np.float64], model: dict[str, Any]) -> NDArray[np.float64]: ...
def interrupt() -> None: ...
