"""The proof, made anew at each start, that the sandbox holds."""
