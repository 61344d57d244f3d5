"""Simulations and loaders for the data of the paper."""

from clearning.datasets.loaders import (
    load_colon,
    load_g241c,
    load_g241d,
    load_leukemia,
    load_usps,
    load_usps_odd_even,
    load_usps_pair,
)
from clearning.datasets.simulations import (
    make_g241c,
    make_g241d,
    make_simulation,
    simulation_probability,
)
from clearning.datasets.store import DatasetError

__all__ = [
    "DatasetError",
    "load_colon",
    "load_g241c",
    "load_g241d",
    "load_leukemia",
    "load_usps",
    "load_usps_odd_even",
    "load_usps_pair",
    "make_g241c",
    "make_g241d",
    "make_simulation",
    "simulation_probability",
]
