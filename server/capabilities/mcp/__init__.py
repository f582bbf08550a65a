"""Tools of MCP servers: a worker process speaks with the servers, and each tool is a Tool here."""
