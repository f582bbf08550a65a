"""The gateway: WebSockets, HTTP, the admission of clients, and their limits."""
