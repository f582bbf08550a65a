"""Who belongs: persons and their devices, tokens, pairing, and the server's own certificates."""
