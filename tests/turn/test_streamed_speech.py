"""A chunk whose sound still comes: announced once, sent as it comes, over when it is whole."""

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.events import Ticket
from tests.turn.scene import RATE_OUT, Scene, sound_of

WORDS = tuple(
    m.Word(text, round(number * RATE_OUT / 2), round((number + 1) * RATE_OUT / 2))
    for number, text in enumerate(("one", "two", "three", "four"))
)
"""Two seconds."""


LOUD = b"\x00\x10"


def pcm(seconds: float, ticket: Ticket) -> bytes:
    return sound_of(ticket) * round(seconds * RATE_OUT)


def begun(seconds: float = 0.2) -> Scene:
    """Of two seconds of an answer so much is made."""
    s = Scene()
    s.join()
    s.say("count to four")
    s.reply("one two three four")
    s.happens(
        events.ChunkSpoken(
            *(s.ticket, "one two three four", RATE_OUT, pcm(seconds, s.ticket), WORDS),
            samples=2 * RATE_OUT,
            more=True,
        )
    )
    return s


def more(s: Scene, seconds: float, *, last: bool = False, ticket: Ticket | None = None) -> None:
    owner = ticket or s.ticket
    s.happens(events.SoundCame(owner, pcm(seconds, owner), more=not last))


def test_it_is_announced_once_with_all_its_words() -> None:
    s = begun()
    more(s, 1.8, last=True)
    [told] = s.told(m.SpeechStart)
    assert told.words == WORDS


def test_its_first_sound_leaves_at_once_and_the_rest_as_it_comes() -> None:
    s = begun(0.1)
    assert s.sent == round(0.1 * RATE_OUT)
    more(s, 0.1)
    assert s.sent == 2 * round(0.1 * RATE_OUT)


def test_until_all_of_it_came_it_is_still_speaking_also_when_the_device_ran_dry() -> None:
    s = begun(0.2)
    s.end_work()
    s.play(0.5)
    assert s.played == s.sent
    assert s.states[-1][2] == "speaking"
    more(s, 1.8, last=True)
    s.end_mouth()
    s.play(2.0)
    assert s.states[-1][2] == "silent"
    assert s.told(m.SpeechStop)[-1] == m.SpeechStop(
        1, "done", round(0.2 * RATE_OUT) + round(1.8 * RATE_OUT)
    )


def test_what_was_heard_goes_by_the_words_that_were_announced() -> None:
    s = begun(0.2)
    more(s, 1.8, last=True)
    s.play(0.8)
    s.press()
    s.release(s.speak(0.1))
    s.understand("never mind", "stop")
    assert s.the(effects.HeardOnly).text == "one two"


def test_sound_of_an_answer_that_was_stopped_is_dropped() -> None:
    s = begun(0.2)
    old = s.ticket
    s.press()
    sent = s.sent
    more(s, 1.0, ticket=old)
    s.release(s.speak(0.1))
    s.understand("never mind", "stop")
    assert s.sent == sent


def test_silence_at_its_end_is_nothing_that_a_yes_waits_for() -> None:
    s = begun(0.2)
    s.happens(events.SoundCame(s.ticket, LOUD * RATE_OUT, more=True))
    s.happens(events.SoundCame(s.ticket, bytes(RATE_OUT), more=False))
    s.end_work()
    s.end_mouth()
    s.play(1.3)
    assert s.states[-1][2] == "silent"
    assert not s.told(m.SpeechStop)


def test_the_next_chunk_follows_without_a_hole() -> None:
    s = begun(0.2)
    more(s, 1.8, last=True)
    s.synthesize("five six", 1.0)
    first = round(0.2 * RATE_OUT) + round(1.8 * RATE_OUT)
    assert [told.first_sample for told in s.told(m.SpeechStart)] == [0, first]
