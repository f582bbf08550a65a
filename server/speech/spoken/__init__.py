"""How things are said that are written in figures, signs and code: one file for each kind."""
