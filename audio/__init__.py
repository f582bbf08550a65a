"""Sound without a network: samples, devices, files."""
