"""Model files: which there are, whether they are whole, and how to get more."""
