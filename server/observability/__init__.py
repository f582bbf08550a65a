"""What the server tells of itself: its log, its metrics, `sayso doctor`."""
