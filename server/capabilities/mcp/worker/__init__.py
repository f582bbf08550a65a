"""The MCP worker, a process of its own: it speaks with all MCP servers, by the official SDK."""
