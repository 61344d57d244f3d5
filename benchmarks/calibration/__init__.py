"""Probabilities for SVMs on real data: `study.section()`, and their speed: `speed.section()`."""
