"""The device's program: what would run on the chip."""
