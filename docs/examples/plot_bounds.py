"""
Coefficients that may only be positive
======================================

Every measurement of a cell nucleus is larger in malignant tumours, or says nothing. A bound at
zero keeps that knowledge in the model: no coefficient has a sign that a doctor would not believe.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from clearning import clearning_path

X, y = load_breast_cancer(return_X_y=True)
X, malignant = (X - X.mean(axis=0)) / X.std(axis=0), y == 0

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True, layout="constrained")
for ax, (title, bounds) in zip(axes, {"free": None, "at least zero": (0.0, np.inf)}.items()):
    path = clearning_path(X, malignant, l1_ratio=0.9, bounds=bounds, alpha_min_ratio=1e-3)
    ax.semilogx(path.alphas, path.coefs, lw=1)
    ax.axhline(0, color="black", lw=0.8)
    ax.invert_xaxis()
    ax.set(title=f"{title}: {path.n_nonzero[-1]} features at the end", xlabel="penalty")
    print(f"{title}: objective at the end {path.objectives[-1]:.4f}")
label = axes[0].set_ylabel("coefficient")
