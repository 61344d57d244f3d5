"""
Finding few features among many
===============================

Ten genes of a thousand carry the signal. How many of the ten does the path find, and how many
others does it let in, as there are more patients? Both rules are shown: the best score lets more
in, one standard error keeps the model clean.
"""

import matplotlib.pyplot as plt
import numpy as np

from clearning import CLearningClassifierCV

sizes, informative, draws = (60, 120, 240, 480), 10, 3


def count(n, selection, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1000))
    y = X[:, :informative].sum(axis=1) + rng.logistic(size=n) > 0
    model = CLearningClassifierCV(selection=selection).fit(X, y)
    kept = model.coef_[0] != 0
    return kept[:informative].sum(), kept[informative:].sum()


figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
for selection, colour in {"best": "C1", "one_se": "C0"}.items():
    counts = np.array([[count(n, selection, seed) for seed in range(draws)] for n in sizes])
    for ax, found in zip(axes, np.moveaxis(counts.mean(axis=1), 1, 0)):
        ax.plot(sizes, found, "o-", color=colour, label=f'selection="{selection}"')
axes[0].axhline(informative, color="grey", ls=":")
axes[0].set(title="true features found, of ten", xlabel="samples", ylim=(0, 10.5), xscale="log")
axes[1].set(title="others let in, of 990", xlabel="samples", ylim=(0, None), xscale="log")
for ax in axes:
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
legend = axes[1].legend(frameon=False)
