"""Tests, folder by folder as the product.

Beside the folders lies what several of them share, one module for each thing that a test needs,
because a folder of helpers would only add a word to each import.
"""
