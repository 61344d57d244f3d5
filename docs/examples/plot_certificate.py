"""
A proof beside a solver that stopped too early
==============================================

On columns in their own units scikit-learn's SAGA stops at its iteration limit, far from the
optimum. How far can be proved here: the dual point of a certified fit bounds every objective from
below, whoever computed it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from clearning import CLearningClassifier

X, y = load_breast_cancer(return_X_y=True)
n, C = len(y), 1.0
ours = CLearningClassifier(loss="logistic", alpha=1 / (n * C), l1_ratio=0.0).fit(X, y)
lower = ours.objective_ - ours.dual_gap_


def objective(model):
    """The ridge-penalised logistic objective of any linear classifier."""
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    return np.logaddexp(0, -margin).mean() + 0.5 / (n * C) * (model.coef_**2).sum()


print(f"clearning: objective {ours.objective_:.6f}, at most {ours.dual_gap_:.1e} above the optimum")

# %%
# The other solvers, stopped after more and more iterations. What is drawn is proved.

steps = (10, 30, 100, 300, 1000, 3000)
figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for solver in ("saga", "lbfgs"):
    excess = []
    for max_iter in steps:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(C=C, solver=solver, max_iter=max_iter, random_state=0)
            excess.append(objective(model.fit(X, y)) - lower)
    ax.loglog(steps, excess, "o-", label=f"scikit-learn, {solver}")
ax.axhline(ours.dual_gap_, color="black", ls="--", label="clearning, its own proof")
ax.axvline(100, color="grey", ls=":", label="max_iter by default")
ax.set(xlabel="iterations", ylabel="objective above the optimum, at most")
legend = ax.legend(frameon=False)
