"""Jupyter kernels: their Python environment, wire, messages and outputs."""
