"""Listens in the background: the desktop's companion, and how systemd and launchd start it."""
