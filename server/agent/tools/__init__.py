"""What a model can do beside running code."""
