"""What a person has Sayso remember, for good: "remember that …"."""
