"""What needs no language model: understood by templates, answered by phrases, kept for later."""
