"""What a client asks to be sent."""

from typing import get_args

from sayso.client.options import WITHOUT_SPEECH
from sayso.protocol.messages import NAMES, FromServer


def test_without_a_loudspeaker_everything_is_wanted_but_sound() -> None:
    all_of_it = {NAMES[kind] for kind in get_args(FromServer)}
    assert all_of_it - set(WITHOUT_SPEECH) == {"speech.start", "speech.stop"}
    assert "task.update" in WITHOUT_SPEECH
