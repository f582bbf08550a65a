"""Who may speak when: a pure state machine, events in and effects out."""
