"""The page for phones and browsers: static files, no build step."""
