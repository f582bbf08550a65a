"""The event log: the truth that conversations are resumed from and audited by."""
