"""Answers xiaozhi boards (ESP32): where to connect, and speech both ways in Opus."""
