"""The settings of `[gateway]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Gateway:
    """What one server takes upon itself."""

    connections: Annotated[int, Between(1, 1_000)] = 256
    """Devices connected at once: a house full of small ones, and yet one that connects again and
    again cannot fill the machine."""
    device_connections: Annotated[int, Between(1, 64)] = 2
    """Connections at once of one paired device: its app, and a page of it."""
    strangers: Annotated[int, Between(1, 1_000)] = 8
    """Connections from one address of the network that have not yet proved who they are; more wait
    for two seconds and are cut off then, so that nobody fills the machine from outside."""
    requests_a_minute: Annotated[int, Between(1, 10_000)] = 30
    """Requests that one paired device may make: nobody asks more, and a device gone wild is told to
    wait. Programs of this machine are not counted."""
    sound_pace: Annotated[float, Between(1, 1_000)] = 1.5
    """How much faster than it was spoken sound is read, in the long run, after a burst of a minute:
    a device catches up after a cut, and nobody keeps the ears busy for the others."""
    sound_burst_s: Annotated[float, Between(1, 600)] = 60.0
    """Seconds of sound that are read at once: one utterance as long as they may be, sent again
    after a cut."""
    messages_a_second: Annotated[float, Between(1, 10_000)] = 100.0
    """Messages of one device that are read in the long run; one that plays sends ten or twenty."""
    send_s: Annotated[float, Between(0.1, 60)] = 3.0
    """Seconds for which a device may take nothing at all of what waits for it; then it counts as
    one that has stopped reading, and is let go. A line that is slow but moves is waited for. On
    Linux more than `gateway.vanished_s` changes nothing: raise both."""
    vanished_s: Annotated[float, Between(1, 600)] = 4.5
    """Seconds for which what a device was sent may stay unacknowledged, or what waits for it
    untaken; then it is gone, without a word. Raise it where devices come over a line that stalls
    for longer. It is Linux that tells; elsewhere this changes nothing."""
    waiting_mb: Annotated[int, Between(1, 64)] = 4
    """Megabytes that may wait for a device that reads slowly; more is likewise one that has stopped
    reading."""
    handshake_s: Annotated[float, Between(1, 60)] = 5.0
    """Seconds for a connection to be made and to say who it is; a device needs one round trip."""
    resume_s: Annotated[float, Between(0, 86_400)] = 300.0
    """Seconds for which the session of a device whose connection broke is kept: a tunnel, a lift, a
    walk between two networks. Who is longer away begins anew."""
