"""Many sparse columns in blocks: passes and processor seconds beside the path in memory.

python benchmarks/block_columns.py             # 1e5 rows of thirty entries in 1e5 columns
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

from clearning import BlockwiseCLearningClassifierCV, clearning_path

ENTRIES, EXPLAINING, PENALTIES, FOLDS = 30, 3000, 6, 2


def sparse_rows(n: int, p: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Columns as frequent as words are, some thousand of which explain the label."""
    rng = np.random.default_rng(0)
    often = 1 / (np.arange(p) + 10.0)
    often /= often.sum()
    columns = rng.choice(p, size=n * ENTRIES, p=often)
    values = np.abs(rng.normal(size=n * ENTRIES)) + 0.2
    starts = np.arange(0, n * ENTRIES + 1, ENTRIES)
    X = sparse.csr_array((values, columns, starts), shape=(n, p))
    X.sum_duplicates()
    coef = np.zeros(p)
    coef[rng.choice(p, EXPLAINING, p=often, replace=False)] = 2 * rng.normal(size=EXPLAINING)
    return X, X @ coef + rng.logistic(size=n) > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e5)
    parser.add_argument("--columns", type=float, default=1e5)
    parser.add_argument("--least", nargs="+", type=float, default=[1e-2, 2e-3, 5e-4])
    told = parser.parse_args()
    X, y = sparse_rows(int(told.rows), int(told.columns))
    print("| smallest penalty | coefficients | passes | seconds | in memory | above it | gap |")
    print("|---|---|---|---|---|---|---|")
    for least in told.least:
        work = time.process_time()
        model = BlockwiseCLearningClassifierCV(
            loss="logistic", alphas=PENALTIES, alpha_min_ratio=least, cv=FOLDS, n_jobs=1
        ).fit(X, y)
        path, blocks = model.path_, time.process_time() - work
        work = time.process_time()
        memory = clearning_path(X, y, loss="logistic", alphas=path.alphas)
        gap = max(path.dual_gaps.max(), model.cv_gaps_.max())
        above = (path.objectives - memory.objectives).max()
        print(
            f"| {least:g} | {np.count_nonzero(path.coefs[-1])} | {model.n_iter_} | {blocks:.1f} "
            f"| {time.process_time() - work:.1f} | {above:.0e} "
            f"| {gap:.1e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
