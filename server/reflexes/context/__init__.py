"""What a sentence means after what was said before it: "and in Tokyo?", "ten minutes"."""
