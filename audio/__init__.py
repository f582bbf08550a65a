"""Handles sound without a network: samples, devices, files."""
