"""Written text as it is spoken: Markdown, numbers, dates, identifiers, language."""
