"""
The same fit in passes over blocks
==================================

A path over rows that are never held at once. All penalties move together, and each pass over the
data is a Newton step for every one of them. What comes out is what a fit in memory gives.
"""

import matplotlib.pyplot as plt
import numpy as np

from clearning import BlockwiseCLearningClassifierCV, clearning_path


def blocks():
    """Twenty blocks of rows, made anew at every pass."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 10))
        yield X, X[:, :4] @ [2, -1, 0.5, 0.2] + rng.logistic(size=1000) > 0


model = BlockwiseCLearningClassifierCV(loss="logistic", l1_ratios=(1.0,), alphas=30).fit(blocks)
X, y = (np.concatenate(parts) for parts in zip(*blocks()))
whole = clearning_path(X, y, loss="logistic", l1_ratio=1.0, alphas=model.path_.alphas)
print(f"passes over the rows: {model.n_iter_}")
difference = np.abs(model.path_.objectives - whole.objectives).max()
print(f"largest difference of an objective: {difference:.0e}")

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.semilogx(whole.alphas, whole.coefs, color="C0", lw=3, alpha=0.4)
ax.semilogx(whole.alphas, model.path_.coefs, color="black", lw=0.8, ls="--")
ax.invert_xaxis()
labels = ax.set(
    xlabel="penalty", ylabel="coefficient", title="in memory (blue) and in blocks (dashed)"
)
