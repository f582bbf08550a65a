"""The door: sockets, HTTP, and who may come in."""
