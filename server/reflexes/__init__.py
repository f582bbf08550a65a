"""Reflexes: requests that need no language model, matched by templates, answered by phrases."""
