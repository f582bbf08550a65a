"""Authentication: persons and their devices, tokens, pairing, the server's own certificates."""
