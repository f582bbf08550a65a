"""Runs one conversation at the client: the link, what is sent and played, who is speaking."""
