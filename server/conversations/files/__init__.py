"""Files of conversations: where code runs, what was made, and what people send."""
