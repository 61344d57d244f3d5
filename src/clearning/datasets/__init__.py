"""Simulations and loaders for the data of the paper."""
