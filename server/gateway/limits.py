"""The gateway's limits, each with its reason. Those that a person may change have their defaults in
`settings/defaults/gateway.py`."""

from dataclasses import dataclass
from typing import Final

from sayso.server.settings.defaults import Gateway

_USUAL: Final = Gateway()

HEADER_LINE_BYTES = 8_192
"""Of a request: a token and a long address are a tenth. It is the WebSocket library's own bound."""

HEADER_LINES = 128
"""Browsers send twenty. Likewise the library's own."""


@dataclass(frozen=True, slots=True)
class Limits:
    """One limit per name. The figures keep one bad client from harming the server for others."""

    handshake_s: float = _USUAL.handshake_s
    """Seconds from the connection to a valid `hello`, TLS included."""
    text_bytes: int = 65_536
    """Longest text frame from a client: a long typed question is a tenth of it."""
    frame_bytes: int = 8_192
    """Longest audio frame from a client: 20 ms are 652 bytes."""
    outgoing_bytes: int = _USUAL.waiting_mb * 2**20
    """What may wait for a client that reads slowly."""
    send_s: float = _USUAL.send_s
    """Seconds for which a client may take nothing at all while more waits than its line holds. One
    that is slow and goes on taking is waited for: speech and talk never fill a line, and a client
    that is let go by mistake comes back and has lost nothing."""
    vanished_s: float = _USUAL.vanished_s
    """Seconds for which a client's machine may leave unacknowledged what it was sent. Telephones
    that change their cell are silent for two or three. To the system it is the same where a client
    takes nothing: that, too, lasts no longer."""
    unsent_bytes: int = 65_536
    """What the system may hold of what the line does not take yet: more than a second of speech,
    and little to stand before what can't wait."""
    goodbye_s: float = 1.0
    """Seconds for the last words and the closing handshake; who does not answer is gone."""
    complaints: int = 20
    """Wrong messages that a connection is told of before it is closed: more is not a slip."""
    ping_s: float = 20.0
    """Seconds between signs of life, so that half-open connections are noticed."""
    connections: int = _USUAL.connections
    """Connections at once, of all clients together. One that only listens costs some 50 KB."""
    sound_pace: float = _USUAL.sound_pace
    """How much faster than it was spoken sound is read, in the long run."""
    sound_burst_s: float = _USUAL.sound_burst_s
    """Seconds of sound that are read at once."""
    messages_a_second: float = _USUAL.messages_a_second
    """Messages that are read in the long run."""
    messages_burst: int = 1_000
    """Messages that are read at once: all that a client keeps during a cut, many times over."""
    flood_s: float = 2.0
    """Seconds of messages without a pause, after that burst, that end a connection: two hundred
    more, when no client has anything left to say."""
    control_burst: int = 100
    """WebSocket pings and pongs of a client that are read at once; the signs of life of minutes."""
    control_a_second: float = 10.0
    """Of these in the long run. More end the connection: nobody needs more than one a second."""
    requests_a_minute: int = _USUAL.requests_a_minute
    """Requests of a paired device. Programs of this machine are their owner's own, not counted."""
    device_connections: int = _USUAL.device_connections
    """Connections at once of one paired device."""
    strangers: int = _USUAL.strangers
    """Connections of one address on the network that have not yet proved who they are, counted
    before TLS is agreed on."""
    near_strangers: int = 128
    """The same for this machine, where a household's worth of programs may come at once."""
    settled_s: float = 1.0
    """Seconds that a stranger has its place to itself, ten times what it takes to come in. Then,
    where there are too many, it gives way to another."""
    idle_s: float = 5.0
    """Seconds for which a connection that was answered may wait for its next request: a page asks
    for its files within a second. Where places are short it ends at once."""
    body_s: float = 300.0
    """Seconds for the whole body of a request: a picture on a slow line takes one."""
    body_stalls_s: float = 10.0
    """Seconds in which nothing of it may come while it is waited for: phones change their cell."""
    device_requests: int = 4
    """Requests with a route of their own that one paired device may have answered at once."""
    waiting: int = 64
    """Connections of one address that may wait for a place, over TLS: what eight browsers open at
    once. They are not read, and cost a file descriptor each."""
    waiting_s: float = 2.0
    """Seconds for which they may: twice what the last of those that have places may keep theirs."""
    resume_s: float = _USUAL.resume_s
    """Seconds for which the session of a client whose connection broke is kept. Who is longer away
    begins anew and loses only what it did not see."""
    replay_messages: int = 512
    """Messages kept to be sent again: a long answer with code is a tenth of it."""
    replay_bytes: int = 1_048_576
    """And how many characters: a hundred long outputs. Beyond, a snapshot costs less."""
    sessions: int = 512
    """Sessions kept, of clients that are here and as many that may come back; the one that is
    longest away gives way."""
