"""
Probabilities beside the truth
==============================

Each class is a mixture of ten Gaussians, after Hastie, Tibshirani and Friedman. The true
probability is known, so that what a kernel makes of 200 samples can be held against it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logsumexp

from clearning import KernelCLearningClassifierCV
from clearning.metrics import generalized_kl

rng = np.random.default_rng(7)
centres = {1: rng.normal([1, 0], 1, (10, 2)), -1: rng.normal([0, 1], 1, (10, 2))}


def draw(n):
    y = rng.choice([-1, 1], n)
    middle = np.array([centres[label][rng.integers(10)] for label in y])
    return middle + rng.normal(0, np.sqrt(0.2), (n, 2)), y


def truth(X):
    log_density = {
        label: logsumexp(-((X[:, None] - c) ** 2).sum(axis=2) / 0.4, axis=1)
        for label, c in centres.items()
    }
    return expit(log_density[1] - log_density[-1])


X, y = draw(200)
model = KernelCLearningClassifierCV(gammas=(0.3, 1.0, 3.0)).fit(X, y)
X_new, _ = draw(5000)
p = model.predict_proba(X_new)[:, 1]
print(f"support vectors: {model.n_support_.sum()} of {len(X)}")
print(f"divergence from the truth: {generalized_kl(truth(X_new), p):.3f} nats")

# %%

x1, x2 = np.meshgrid(np.linspace(-3, 4, 161), np.linspace(-3, 4, 161))
grid = np.column_stack([x1.ravel(), x2.ravel()])
surfaces = {"the truth": truth(grid), "from 200 samples": model.predict_proba(grid)[:, 1]}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True, layout="constrained")
for ax, (title, eta) in zip(axes, surfaces.items()):
    shading = ax.pcolormesh(
        x1, x2, eta.reshape(x1.shape), cmap="RdBu", vmin=0, vmax=1, shading="gouraud", alpha=0.8
    )
    ax.contour(x1, x2, eta.reshape(x1.shape), levels=[0.1, 0.5, 0.9], colors="black", linewidths=1)
    ax.set(title=title, xticks=(), yticks=())
axes[1].scatter(*X.T, c=y, cmap="RdBu", s=10, edgecolors="white", linewidths=0.3)
axes[1].scatter(*model.support_vectors_.T, s=45, facecolors="none", edgecolors="black")
bar = figure.colorbar(shading, ax=axes, label="probability of class 1")
