"""The wire from several sides, one module for each; they share the helpers that lie beside them,
and so are as many.
"""
