"""The event log: conversations are resumed from it and audited by it."""
