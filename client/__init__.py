"""The client: it listens, shows and plays. It never imports the server."""
