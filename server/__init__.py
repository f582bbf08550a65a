"""The end that stays at home: it hears, thinks, acts and speaks."""
