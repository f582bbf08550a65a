"""What is said while a request is worked on, by the person and by Sayso."""
