"""The home's network: its listener, its announcement, device administration."""
