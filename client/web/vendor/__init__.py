"""Other people's modules that the page uses, byte for byte; README.md tells which they are."""
