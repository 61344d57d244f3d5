"""Models for other systems: ONNX graphs, and what skops may load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["TRUSTED_TYPES", "to_onnx"]

# What skops may make when it loads a model of this package: plain data behind plain methods.
TRUSTED_TYPES = [
    "clearning._blockwise_cv.BlockwiseCLearningClassifierCV",
    "clearning._class_path.ClassPath",
    "clearning._kernel_cv.KernelCLearningClassifierCV",
    "clearning._linear_cv.CLearningClassifierCV",
    "clearning._margin_losses.Exponential",
    "clearning._margin_losses.Hinge",
    "clearning._margin_losses.HuberizedHinge",
    "clearning._margin_losses.SquaredHinge",
    "clearning._multi_coherence.MultiCoherence",
    "clearning._regularization_path.RegularizationPath",
    "clearning._temperature_path.HingeLimit",
    "clearning._temperature_path.TemperaturePath",
    "clearning.blockwise.BlockwiseCLearningClassifier",
    "clearning.calibration._calibrators.CoherenceCalibrator",
    "clearning.calibration._calibrators.PlattCalibrator",
    "clearning.calibration._calibrators.SollichCalibrator",
    "clearning.calibration._classifier.CalibratedClassifier",
    "clearning.calibration._classifier.CalibratedMarginClassifier",
    "clearning.calibration._joint.JointCoherenceCalibrator",
    "clearning.calibration._weighted.WeightedMarginClassifier",
    "clearning.calibration._weighted._LinearFits",
    "clearning.kernel.KernelCLearningClassifier",
    "clearning.kernels.Kernel",
    "clearning.linear.CLearningClassifier",
    "clearning.losses.CLoss",
    "clearning.losses.Coherence",
    "clearning.losses.Exponential",
    "clearning.losses.Hinge",
    "clearning.losses.HuberizedHinge",
    "clearning.losses.Logistic",
    "clearning.losses.MajorizationLoss",
    "clearning.losses.SquaredHinge",
    "clearning.path.RegularizationPath",
    "clearning.tables.model.TableModel",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.model_selection._split.StratifiedKFold",
]


def to_onnx(model: Any, X: Any = None, *, double: bool = True) -> Any:
    """Return a fitted classifier as an ONNX graph.

    Parameters
    ----------
    model : estimator, pipeline or TableModel
        A classifier of this package, alone or at the end of a scikit-learn pipeline, or what
        ``clearning fit`` wrote.
    X : array-like, default=None
        Some samples, of which only the number of columns is read; needed where the model does not
        know how many features it takes. A TableModel has an input for each of its columns.
    double : bool, default=True
        Whether the graph computes in double precision.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label`` and ``probabilities``, (n_samples, n_classes); a classifier
        without probabilities gives ``scores`` in their place.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import CLearningClassifier
    >>> from clearning.export import to_onnx
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> graph = to_onnx(CLearningClassifier(standardize=True).fit(X, y))
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    try:
        import skl2onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("to_onnx needs skl2onnx: pip install 'clearning[onnx]'") from error
    from clearning._onnx import convert

    return convert(model, X, double=double)


def save_onnx(graph: Any, path: Path) -> None:
    """Write a graph, whole or not at all."""
    from clearning._whole import whole_file

    with whole_file(path) as file:
        file.write(graph.SerializeToString())
