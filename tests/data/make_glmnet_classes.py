"""Keeps what R's glmnet answers to the problems of `glmnet_class_cases.py`.

    python tests/data/make_glmnet_classes.py

needs R with the package glmnet, and writes `glmnet_classes.npz` beside this file: the inputs, and
for each case an array (penalties, classes, 1 + features) of intercepts and coefficients.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from glmnet_class_cases import ALPHAS, CASES, FILE, make_inputs


def r_vector(values: Any) -> str:
    return "c(" + ",".join(f"{value:.17g}" for value in np.ravel(values)) + ")"


def r_matrix(values: np.ndarray) -> str:
    return f"matrix({r_vector(values.T)}, nrow={values.shape[0]})"


def r_call(case: dict[str, Any], given: dict[str, np.ndarray]) -> str:
    """One call of glmnet, whose penalties are divided by the mean of its factors."""
    y, rho = given["y"], case.get("rho", 1.0)
    factors = given["factors"] if case.get("factors") else np.ones(7)
    offset = case.get("u", 0.0) / rho * (np.arange(3) != y[:, None])
    if case.get("offset"):
        offset = offset + given["offsets"]
    arguments = {
        "x": r_matrix(given["X"]),
        "y": f"factor({r_vector(y)})",
        "family": '"multinomial"',
        "type.multinomial": '"grouped"' if case.get("groups") else '"ungrouped"',
        "alpha": f"{case['l1_ratio']}",
        "lambda": r_vector(ALPHAS * factors.mean()),
        "penalty.factor": r_vector(factors),
        "weights": r_vector(given["weights"] if case.get("weighted") else np.ones(60)),
        "offset": r_matrix(offset),
        "intercept": "TRUE" if case.get("fit_intercept", True) else "FALSE",
        "standardize": "FALSE",
        "thresh": "1e-16",
        "maxit": "1e8",
    }
    return f"glmnet({', '.join(f'{name}={value}' for name, value in arguments.items())})"


def main() -> None:
    given, kept = make_inputs(), {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.bin"
            script = Path(folder) / "ask.R"
            script.write_text(
                "library(glmnet)\n"
                f"fit <- {r_call(case, given)}\n"
                "values <- sapply(1:3, function(k) as.vector(rbind(fit$a0[k, ],\n"
                "                                                  as.matrix(fit$beta[[k]]))))\n"
                f'writeBin(as.vector(values), "{out}")\n'
            )
            subprocess.run(["Rscript", str(script)], check=True, capture_output=True)
            values = np.fromfile(out).reshape(3, len(ALPHAS), 8)
        kept[name] = values.swapaxes(0, 1)
    np.savez_compressed(FILE, **given, **kept)


if __name__ == "__main__":
    main()
