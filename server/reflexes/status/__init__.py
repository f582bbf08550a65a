"""What is said of work that goes on."""
