"""What a person types with a slash: wishes to Sayso itself, not to the model."""
