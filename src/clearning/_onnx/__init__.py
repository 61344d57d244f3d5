"""Fitted classifiers as ONNX graphs: scores, links, and the converters that skl2onnx asks for."""

from clearning._onnx.converters import convert

__all__ = ["convert"]
