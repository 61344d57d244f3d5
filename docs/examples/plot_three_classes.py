"""
Three classes, and where each one looks
=======================================

Threes, eights and nines: one loss for all three scores, one certificate. The coefficients are
pictures, for the features are pixels. With ``groups="classes"`` a pixel is in for all classes or
out, so that the three share their pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from clearning import CLearningClassifierCV

X, y = load_digits(return_X_y=True)
X, y = X[np.isin(y, (3, 8, 9))] / 16, y[np.isin(y, (3, 8, 9))]
models = {
    "each coefficient alone": CLearningClassifierCV(selection="one_se"),
    "in groups": CLearningClassifierCV(selection="one_se", groups="classes"),
}
figure, axes = plt.subplots(2, 3, figsize=(7.5, 5.4), layout="constrained")
for row, (name, model) in zip(axes, models.items()):
    model.fit(X, y)
    pixels = (model.coef_ != 0).any(axis=0).sum()
    print(f"{name}: {pixels} pixels of 64, gap {model.dual_gap_:.0e}")
    largest = np.abs(model.coef_).max()
    for ax, digit, coefs in zip(row, model.classes_, model.coef_):
        picture = ax.imshow(coefs.reshape(8, 8), cmap="RdBu", vmin=-largest, vmax=largest)
        ax.set(title=f"{digit}: {(coefs != 0).sum()} pixels", xticks=(), yticks=())
    row[0].set_ylabel(name)
bar = figure.colorbar(picture, ax=axes, label="coefficient", ticks=[-largest, 0, largest])
labels = bar.ax.set_yticklabels(["against", "no matter", "for"])
