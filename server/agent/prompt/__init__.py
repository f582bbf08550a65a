"""What a model is told: messages, profiles, the digest of outputs, notes for what is left out."""
