"""The light end: it listens, shows and plays. It never imports the server."""
