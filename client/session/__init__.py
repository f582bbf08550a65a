"""One conversation at this end: the link, what is sent and played, and who is speaking."""
