"""The gateway: WebSockets, HTTP, and the admission of clients."""
