"""
From no feature to all of them
==============================

A regularisation path starts where every coefficient is zero and lets features in one by one.
Cross-validation says where to stop: at the best score, or at the simplest model within a standard
error of it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from clearning import CLearningClassifierCV
from clearning.display import CVDisplay, PathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = CLearningClassifierCV(standardize=True, selection="one_se").fit(X, y)

figure, axes = plt.subplots(2, 1, figsize=(8, 9), layout="constrained")
PathDisplay.from_estimator(model, ax=axes[0])
CVDisplay.from_estimator(model, ax=axes[1])

# %%
# The features that are kept, largest first, and the penalty at which each came in:

print(model.summary())
