"""Looks things up on the web, in the sandbox and by its proxy, as granted code does."""
