"""The languages that code can be written in, each a small class."""
