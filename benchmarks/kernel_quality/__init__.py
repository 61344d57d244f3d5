"""Kernel classifiers with probabilities on real data: `study.section()` is their table."""
