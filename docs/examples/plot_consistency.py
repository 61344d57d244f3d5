r"""
The consistency theorem, seen
=============================

Zhang, Liu, Dai and Jordan prove that kernel C-learning reaches the Bayes error as samples
accumulate, if the penalty falls, but not too fast: :math:`\gamma_n \to 0` with
:math:`n\gamma_n^2/\log n \to \infty`; without an intercept :math:`n\gamma_n^2 \to \infty` suffices
(``thm:consistent2``). A penalty :math:`\gamma_n = n^{-1/3}` does both.

Here are the two simulations of the paper, from a hundred samples to twenty thousand. The error and
the cross-entropy of new samples fall towards those of the true probability, with an intercept and
without.
"""

import matplotlib.pyplot as plt
import numpy as np

from clearning import KernelCLearningClassifier
from clearning.datasets import make_simulation
from clearning.metrics import cross_entropy

sizes = (100, 300, 1000, 3000, 10_000, 20_000)
draws = {100: 10, 300: 5, 1000: 3}  # small samples vary: several are drawn


def measure(number, n, intercept, X_new, y_new):
    """Error and cross-entropy on new samples, means over the draws."""
    found = []
    for seed in range(draws.get(n, 1)):
        X, y, _ = make_simulation(number, n, random_state=seed)
        model = KernelCLearningClassifier(
            alpha=n ** (-1 / 3), l1_ratio=0.0, fit_intercept=intercept, n_landmarks=min(n, 200)
        ).fit(X, y)
        p = model.predict_proba(X_new)[:, 1]
        found.append((np.mean(model.predict(X_new) != y_new), cross_entropy(y_new, p)))
    return np.mean(found, axis=0)


figure, axes = plt.subplots(2, 2, figsize=(9.5, 7), sharex=True, layout="constrained")
for column, number in zip(axes.T, (1, 2)):
    X_new, y_new, eta = make_simulation(number, 20_000, random_state=1000)
    bayes = np.mean((eta > 0.5) != (y_new == 1)), cross_entropy(y_new, eta)
    for intercept, style in {True: "o-", False: "s--"}.items():
        curves = np.array([measure(number, n, intercept, X_new, y_new) for n in sizes]).T
        for ax, curve in zip(column, curves):
            ax.semilogx(
                sizes, curve, style, label=f"{'with' if intercept else 'without'} an intercept"
            )
        print(f"simulation {number}, intercept {intercept}: error {curves[0].round(4)}")
    for ax, best, name in zip(column, bayes, ("error", "cross-entropy")):
        ax.axhline(best, color="black", lw=1, ls=":", label="the true probability")
        ax.set(title=f"simulation {number}: {name}")
for ax in axes[1]:
    ax.set_xlabel("samples")
legend = axes[0, 1].legend(frameon=False)

# %%
# The cross-entropy falls more slowly than the error: :math:`n^{-1/3}` is a strong penalty, and
# shrinks the scores. The theorem speaks of the error.
