"""Keeps what R's glmnet answers to the problems of `glmnet_cases.py`.

    python tests/data/make_glmnet.py

needs R with the package glmnet, and writes `glmnet.npz` beside this file: the inputs, for each path
rows of (intercept, coefficients), one per lambda, and for each cross-validation lambda.min,
lambda.1se, the curve and its standard errors.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from glmnet_cases import (
    ALPHAS,
    CROSS_VALIDATIONS,
    CV_ALPHAS,
    FILE,
    PATHS,
    data_of,
)
from linear_oracles import make_data, make_offsets, make_sparse_data, make_weights


def make_inputs() -> dict[str, np.ndarray]:
    scale = np.linspace(0.5, 2.0, 8)
    (X, y), (sparse_X, sparse_y) = make_data(seed=1), make_sparse_data()
    return {
        "X": X * scale,
        "y": y,
        "sparse_X": sparse_X * scale,
        "sparse_y": sparse_y,
        "weights": make_weights(60),
        "offsets": make_offsets(60),
        "folds": np.random.default_rng(7).permutation(60) % 5,
    }


def r_vector(values: Any) -> str:
    numbers = ",".join(f"{value:.17g}" for value in np.ravel(values))
    return f"c({numbers})".replace("inf", "Inf")


def r_arguments(options: dict[str, Any], alphas: np.ndarray, inputs: dict[str, Any]) -> str:
    """What glmnet and cv.glmnet take, as R source."""
    X, y, given = data_of(options, inputs)
    design = f"matrix({r_vector(X.T)}, nrow={X.shape[0]})"
    if options.get("sparse"):
        design = f"Matrix({design}, sparse=TRUE)"
    factor = given.get("penalty_factor", np.ones(X.shape[1]))
    call = {
        "x": design,
        "y": f"factor({r_vector(y)})",
        "family": "'binomial'",
        "alpha": given["l1_ratio"],
        # glmnet scales the factors to sum to the number of features.
        "lambda": r_vector(alphas * factor.mean()),
        "penalty.factor": r_vector(factor),
        "intercept": str(given.get("fit_intercept", True)).upper(),
        "standardize": str(given.get("standardize", False)).upper(),
        "thresh": "1e-15",
        "maxit": "1e7",
    }
    for name, key in (("sample_weight", "weights"), ("offset", "offset")):
        if name in given:
            call[key] = r_vector(given[name])
    if "bounds" in given:
        call["lower.limits"], call["upper.limits"] = map(r_vector, given["bounds"])
    return ", ".join(f"{key}={value}" for key, value in call.items())


def r_script(inputs: dict[str, Any], folder: Path) -> str:
    """One R process fits them all, as starting it costs more than the fits."""
    lines = [
        "suppressMessages(library(glmnet))",
        "glmnet.control(fdev=0, devmax=1, mnlam=1)",
        "keep <- function(values, name) write.table(format(values, digits=17), "
        f"file.path('{folder}', name), row.names=FALSE, col.names=FALSE, quote=FALSE)",
    ]
    for name, options in PATHS.items():
        lines += [
            f"fit <- glmnet({r_arguments(options, ALPHAS, inputs)})",
            f"keep(t(as.matrix(coef(fit))), 'path_{name}')",
        ]
    for name, options in CROSS_VALIDATIONS.items():
        arguments = r_arguments(options, CV_ALPHAS, inputs)
        lines += [
            f"fit <- cv.glmnet({arguments}, foldid={r_vector(inputs['folds'] + 1)})",
            f"keep(rbind(c(fit$lambda.min, fit$lambda.1se)), 'choice_{name}')",
            f"keep(cbind(fit$cvm, fit$cvsd), 'curve_{name}')",
        ]
    lines.append(
        f"writeLines(as.character(packageVersion('glmnet')), file.path('{folder}', 'version'))"
    )
    return "\n".join(lines)


def main() -> None:
    inputs = make_inputs()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = folder / "answers"
        answers.mkdir()
        script = folder / "ask.R"
        script.write_text(r_script(inputs, answers))
        subprocess.run(["Rscript", str(script)], check=True)
        version = (answers / "version").read_text().strip()
        (answers / "version").unlink()
        found = {file.name: np.loadtxt(file, ndmin=2) for file in sorted(answers.iterdir())}
    np.savez_compressed(FILE, glmnet_version=np.array(version), **inputs, **found)
    print(f"{FILE.name}: {len(found)} answers of glmnet {version}")


if __name__ == "__main__":
    main()
