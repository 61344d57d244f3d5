"""Simulations and loaders for the data of the paper."""

from clearning.datasets.simulations import (
    make_g241c,
    make_g241d,
    make_simulation,
    simulation_probability,
)

__all__ = ["make_g241c", "make_g241d", "make_simulation", "simulation_probability"]
