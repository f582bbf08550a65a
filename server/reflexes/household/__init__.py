"""Lists that a household keeps: what to buy, what to do."""
