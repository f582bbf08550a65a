"""The words in pictures, for models that see none; read in a process of its own, in the sandbox."""
