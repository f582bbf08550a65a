"""What benchmarks share: clients, recordings, questions, figures."""
