"""
How few support vectors will do
===============================

The share of the ℓ₁ norm decides how many training samples a kernel model needs to predict. Here
each share has its penalty chosen by cross-validation; the log-loss is that of new samples.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from clearning import KernelCLearningClassifierCV
from clearning.metrics import cross_entropy

X, y = make_moons(400, noise=0.3, random_state=0)
X_new, y_new = make_moons(10_000, noise=0.3, random_state=1)
shares = (0.0, 0.05, 0.2, 0.5, 0.9, 1.0)
vectors, losses = [], []
for share in shares:
    model = KernelCLearningClassifierCV(l1_ratios=(share,), gammas=(1.0,)).fit(X, y)
    vectors.append(int(model.n_support_.sum()))
    losses.append(cross_entropy(y_new, model.predict_proba(X_new)[:, 1]))
svm = int(SVC(gamma=1.0).fit(X, y).n_support_.sum())

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(vectors, losses, "o", color="C0")
for share, x, height in zip(shares, vectors, losses):
    ax.annotate(f"{share:g}", (x, height), xytext=(5, 5), textcoords="offset points")
ax.axvline(svm, color="grey", ls=":")
ax.text(svm, max(losses), f" an SVM needs {svm}", va="top", color="grey")
ax.set(xscale="log", xlabel="support vectors, of 400 samples", ylabel="log-loss on new samples")
title = ax.set_title("each point a share of the ℓ₁ norm")
