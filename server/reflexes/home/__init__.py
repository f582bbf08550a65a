"""What a house's own devices are asked to do without a language model."""
