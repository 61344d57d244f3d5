"""
Features that enter together
============================

Twelve features in four groups, as the levels of a factor or the genes of a pathway would be. Two
groups matter. With ``groups`` the members of a group enter the path at the same penalty; without,
they come one by one.
"""

import matplotlib.pyplot as plt
import numpy as np

from clearning import clearning_path

rng = np.random.default_rng(0)
groups = np.repeat(["a", "b", "c", "d"], 3)
X = rng.normal(size=(300, 12))
y = X[:, :3] @ [1, -1, 0.5] + X[:, 6:9] @ [0.6, 0.6, 0.6] + rng.logistic(size=300) > 0

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True, layout="constrained")
for ax, given in zip(axes, (None, groups)):
    path = clearning_path(X, y, l1_ratio=1.0, groups=given)
    coefs = path.coefs.reshape(len(path.alphas), 12, -1)[:, :, -1]
    for group, colour in zip("abcd", ("C0", "C1", "C2", "C3")):
        lines = ax.semilogx(path.alphas, coefs[:, groups == group], color=colour)
        lines[0].set_label(f"group {group}")
    ax.invert_xaxis()
    ax.set(title="groups" if given is not None else "no groups", xlabel="penalty")
axes[0].set_ylabel("coefficient")
legend = axes[0].legend(frameon=False)
