"""Simulates an ESP32-class device."""
