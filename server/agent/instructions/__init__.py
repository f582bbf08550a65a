"""Instructions of a folder (AGENTS.md, CLAUDE.md), which hold once their person trusted them."""
