"""Pairing, the server that this device knows, and the administration of devices."""
