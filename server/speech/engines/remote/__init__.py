"""A server that speaks the OpenAI wire for sound: it hears, or speaks, somewhere else."""
