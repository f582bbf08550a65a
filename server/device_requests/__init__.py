"""What a server may ask a person's own devices to do, such as at a screen, and what came of it."""
