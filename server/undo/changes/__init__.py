"""Tells what a run changed as a person would: without by-products, and renames as renames."""
