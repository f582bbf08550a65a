"""What needs no language model: understood and answered for all conversations, and in each."""
