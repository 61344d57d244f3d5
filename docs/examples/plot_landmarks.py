"""
Landmarks: a kernel for many samples
====================================

With twenty thousand samples a kernel matrix has four hundred million entries. A few landmarks,
chosen by a pivoted factorisation of the kernel, span nearly the same functions.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clearning import KernelCLearningClassifier
from clearning.metrics import cross_entropy

X, y = make_moons(20_000, noise=0.3, random_state=0)
X_new, y_new = make_moons(20_000, noise=0.3, random_state=1)
counts = (5, 10, 20, 40, 80, 160)
losses, errors = [], []
for count in counts:
    model = KernelCLearningClassifier(gamma=1.0, alpha=1e-4, l1_ratio=0.1, n_landmarks=count)
    p = model.fit(X, y).predict_proba(X_new)[:, 1]
    losses.append(cross_entropy(y_new, p))
    errors.append(1 - model.score(X_new, y_new))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, values, name in zip(axes, (losses, errors), ("log-loss", "error")):
    ax.semilogx(counts, values, "o-")
    ax.set(xlabel="landmarks", title=f"{name} on new samples")
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
