"""Reads a model's reply as it streams: text to say, code to run, calls."""
