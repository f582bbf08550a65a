"""A device without a screen: a button, a light, a voice. A Raspberry Pi, most often."""
