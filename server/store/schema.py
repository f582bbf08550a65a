"""The log's tables, version by version. A log is brought forward when opened, and never back."""

from typing import Final

APPLICATION_ID: Final = 0x5341_5953
"""Marks the file as Sayso's ("SAYS"): another program's database is not mistaken for a log."""

EVENT_REMAINS: Final = """
    CREATE TRIGGER event_remains BEFORE DELETE ON event
    BEGIN SELECT RAISE (ABORT, 'the log is append-only'); END
"""

FORGET_CONVERSATION: Final = "DELETE FROM event WHERE conversation = ?"

OLD_ACCESS: Final = """
    SELECT id FROM event WHERE conversation = '' AND (time < ? OR id <= COALESCE (
        (SELECT id FROM event WHERE conversation = '' ORDER BY id DESC LIMIT 1 OFFSET ?), 0))
"""
"""What came before a time, and all but so many of the newest."""

FORGET_ACCESS: Final = f"DELETE FROM event WHERE id IN ({OLD_ACCESS})"  # noqa: S608 (our own words)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE event (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation TEXT NOT NULL,
            parent INTEGER REFERENCES event (id),
            source TEXT NOT NULL,
            time REAL NOT NULL,
            kind TEXT NOT NULL,
            payload TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX event_by_conversation ON event (conversation, id)",
        # The database itself keeps the log append-only.
        """
        CREATE TRIGGER event_stays BEFORE UPDATE ON event
        BEGIN SELECT RAISE (ABORT, 'the log is append-only'); END
        """,
        EVENT_REMAINS,
    ),
    ("CREATE INDEX event_by_kind ON event (kind, id)",),
    ("CREATE INDEX event_by_conversation_and_kind ON event (conversation, kind, id)",),
    ("CREATE INDEX event_by_conversation_and_source ON event (conversation, source, id)",),
)
"""Entry n brings a log from version n to version n + 1. Once released an entry never changes."""

VERSION: Final = len(MIGRATIONS)

CONVERSATIONS: Final = """
    SELECT conversation, MIN (time),
        COALESCE ((SELECT theirs.time FROM event AS theirs
         WHERE theirs.conversation = event.conversation AND theirs.source = 'person'
         ORDER BY theirs.id DESC LIMIT 1), MAX (time)),
        COUNT (*),
        (SELECT first.payload FROM event AS first
         WHERE first.conversation = event.conversation AND first.kind = 'asked'
         ORDER BY first.id LIMIT 1),
        (SELECT setup.payload FROM event AS setup
         WHERE setup.conversation = event.conversation
           AND setup.kind = 'conversation.began' ORDER BY setup.id LIMIT 1),
        (SELECT named.payload FROM event AS named
         WHERE named.conversation = event.conversation
           AND named.kind = 'conversation.named' ORDER BY named.id DESC LIMIT 1),
        (SELECT chosen.payload FROM event AS chosen
         WHERE chosen.conversation = event.conversation
           AND chosen.kind = 'workspace.chosen' ORDER BY chosen.id DESC LIMIT 1),
        (SELECT pinned.payload FROM event AS pinned
         WHERE pinned.conversation = event.conversation
           AND pinned.kind = 'conversation.pinned' ORDER BY pinned.id DESC LIMIT 1)
    FROM event WHERE conversation <> '' GROUP BY conversation
    ORDER BY COALESCE ((SELECT theirs.id FROM event AS theirs
         WHERE theirs.conversation = event.conversation AND theirs.source = 'person'
         ORDER BY theirs.id DESC LIMIT 1), MAX (id)) DESC
"""
"""What a list tells of each conversation, the one first in which a person did something last: what
the server notes of itself, as when one is looked into after a restart, makes none the latest. Asked
whenever a device comes in."""
