"""Sums, units and places: what is worked out from the words alone."""
