"""An ESP32-class device in software."""
