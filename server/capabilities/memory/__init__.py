"""What a person had Sayso remember, as a tool, and as what models are told of it."""
