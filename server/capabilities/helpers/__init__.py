"""Helpers work on parts of a request in parallel, each in a copy, and hand back differences."""
