"""Runs code: confined, interruptible, and with a true report of how it ended."""
