"""Skills that a person keeps, in the open SKILL.md format: told in a line, read on use."""
