"""Observability: the server's log, its metrics, `sayso doctor`."""
