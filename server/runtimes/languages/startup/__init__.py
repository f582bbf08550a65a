"""What each Python that code starts runs first: this folder is the first on its path."""
