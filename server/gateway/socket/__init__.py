"""One client's WebSocket: connection, session, outbox, replay."""
