"""Files of conversations: what was made and can be fetched, and what people send."""
