"""What happened: the append-only event log."""
