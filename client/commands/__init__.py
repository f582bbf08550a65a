"""The verbs that the client brings: talk, ask, doctor."""
