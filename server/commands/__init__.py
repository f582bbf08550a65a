"""The server's verbs of the `sayso` command."""
