"""What lies in the sandbox so that code can call functions of the server, language by language."""
