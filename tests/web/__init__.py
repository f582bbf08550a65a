"""The page in a browser: one module for each thing that a person does there, and so as many."""
