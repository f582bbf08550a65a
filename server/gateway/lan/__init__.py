"""The local network: its listener, its announcement by mDNS, device administration."""
