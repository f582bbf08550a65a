"""Plain HTTP requests: the page, health, results, files."""
