"""
What cooling does to a decision
===============================

The same moons, the same kernel, three temperatures. The boundary hardly moves. What is lost on the
way to the SVM is the shade of grey: inside the margin a cold loss says one half.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clearning import KernelCLearningClassifier

X, y = make_moons(200, noise=0.3, random_state=0)
x1, x2 = np.meshgrid(np.linspace(-2, 3, 151), np.linspace(-1.5, 2, 151))
grid = np.column_stack([x1.ravel(), x2.ravel()])

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, rho in zip(axes, (1.0, 0.2, 0.02)):
    model = KernelCLearningClassifier(rho=rho, gamma=1.0, alpha=0.003, l1_ratio=0.2).fit(X, y)
    p = model.predict_proba(grid)[:, 1].reshape(x1.shape)
    shading = ax.pcolormesh(x1, x2, p, cmap="RdBu", vmin=0, vmax=1, shading="gouraud", alpha=0.8)
    ax.contour(x1, x2, p, levels=[0.5], colors="black", linewidths=1.2)
    ax.scatter(*X.T, c=y, cmap="RdBu", s=10, edgecolors="white", linewidths=0.3)
    ax.set(title=f"ρ = {rho:g}", xticks=(), yticks=())
bar = figure.colorbar(shading, ax=axes, label="probability")
