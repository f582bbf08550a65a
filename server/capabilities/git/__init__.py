"""Git as a person wants it: their name on commits, "commit that", and pushing on a tap."""
