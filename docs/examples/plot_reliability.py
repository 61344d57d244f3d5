"""
Which probability of an SVM to believe
======================================

An SVM that tells odd digits from even ones, and three ways to make probabilities of its scores.
A method that says what it knows lies on the diagonal. The coherence link is the only one of the
three that cannot contradict the SVM's own prediction.
"""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from clearning import CalibratedMarginClassifier
from clearning.display import ReliabilityDisplay
from clearning.metrics import cross_entropy

X, digit = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, digit % 2, train_size=300, random_state=0)
svm = SVC(C=0.1)
models = {
    "coherence link": CalibratedMarginClassifier(svm),
    "Platt's sigmoid": CalibratedClassifierCV(svm, ensemble=False),
    "isotonic": CalibratedClassifierCV(svm, method="isotonic", ensemble=False),
}
for name, model in models.items():
    p = model.fit(X, y).predict_proba(X_new)
    against = (p.argmax(axis=1) != svm.fit(X, y).predict(X_new)).mean()
    loss = cross_entropy(y_new, p[:, 1], eps=1e-6)
    print(f"{name:16} log-loss {loss:.3f}, contradicts the SVM on {against:.1%}")

# %%

display = ReliabilityDisplay.from_estimators(models, X_new, y_new, n_bins=10, side_by_side=True)
