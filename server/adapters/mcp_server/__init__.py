"""Programs that speak MCP ask Sayso something, and look at how it is getting on."""
