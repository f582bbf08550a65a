"""Answers clients of the OpenAI Realtime API: speech both ways over a WebSocket."""
