"""A person's own screen, as a tool: what the client there may be asked for, and who allowed it."""
