"""Several devices hear the same words: the one that heard them best acts, once."""

import asyncio

import pytest

from sayso.audio.pcm import quieter
from sayso.server.speech.recognition.rival_devices import WAIT_S, RivalDevices, Rivals, Voice
from tests.speech.sounds import silence, voice

pytestmark = pytest.mark.virtual_time

WORDS = "what time is it"


def hear(place: Rivals, device: str, loudness: float, *, addressed: bool = True) -> Voice:
    heard = place.began(device, addressed=addressed)
    spoken = quieter(voice(0.02), loudness)
    for pcm in (silence(0.02), silence(0.02), spoken, spoken):
        heard.feed(pcm)
    return heard


async def said(place: Rivals, heard: Voice, text: str, after_s: float, *, settles: bool) -> bool:
    await asyncio.sleep(after_s)
    return await place.is_heard_best(heard, text, settles=settles)


class Rooms:
    """A kitchen and a hall, each with a conversation of its own."""

    def __init__(self, *, of: tuple[str, str] = ("", "")) -> None:
        everywhere = RivalDevices()
        self.kitchen = everywhere.of(of[0], "kitchen")
        self.hall = everywhere.of(of[1], "hall")

    async def hear(
        self,
        kitchen: tuple[float, str, float],
        hall: tuple[float, str, float],
        *,
        settles: bool = False,
    ) -> tuple[bool, bool]:
        """Who acts, when each hears a voice so loud, as these words, known after so long."""
        near = hear(self.kitchen, "kitchen", kitchen[0])
        far = hear(self.hall, "hall", hall[0])
        acts = await asyncio.gather(
            said(self.kitchen, near, kitchen[1], kitchen[2], settles=settles),
            said(self.hall, far, hall[1], hall[2], settles=settles),
        )
        return acts[0], acts[1]


@pytest.mark.parametrize("slower", ["kitchen", "hall"])
async def test_of_two_that_hear_the_same_words_the_nearer_one_acts(slower: str) -> None:
    late = (0.4, 0.1) if slower == "kitchen" else (0.1, 0.4)
    heard = (0.5, "What time is it?", late[0]), (0.05, "what time is", late[1])
    assert await Rooms().hear(*heard) == (True, False)
    assert await Rooms().hear(*reversed(heard)) == (False, True)


async def test_two_people_who_say_different_things_at_once_both_get_an_answer() -> None:
    kitchen, hall = (0.5, WORDS, 0.1), (0.1, "set a timer for ten minutes", 0.1)
    assert await Rooms().hear(kitchen, hall) == (True, True)


async def test_what_nearly_everybody_may_say_later_is_said_anew() -> None:
    rooms = Rooms()
    assert await said(rooms.kitchen, hear(rooms.kitchen, "kitchen", 0.5), WORDS, 0.1, settles=False)
    await asyncio.sleep(3.0)
    assert await said(rooms.hall, hear(rooms.hall, "hall", 0.1), WORDS, 0.1, settles=False)


async def test_a_device_that_hears_alone_waits_for_nothing() -> None:
    rooms, before = Rooms(), asyncio.get_running_loop().time()
    heard = hear(rooms.kitchen, "kitchen", 0.5)
    assert await rooms.kitchen.is_heard_best(heard, WORDS, settles=False)
    assert asyncio.get_running_loop().time() == before


async def test_it_does_not_wait_for_a_device_that_heard_a_noise_or_never_knows() -> None:
    rooms, loop = Rooms(), asyncio.get_running_loop()
    heard, noise = hear(rooms.kitchen, "kitchen", 0.5), hear(rooms.hall, "hall", 0.9)
    loop.call_later(0.2, rooms.hall.drop, noise)
    before = loop.time()
    assert await rooms.kitchen.is_heard_best(heard, WORDS, settles=False)
    assert loop.time() - before == pytest.approx(0.2)
    heard, never = hear(rooms.kitchen, "kitchen", 0.1), hear(rooms.hall, "hall", 0.9)
    before = loop.time()
    assert await rooms.kitchen.is_heard_best(heard, WORDS, settles=False)
    assert loop.time() - before == pytest.approx(WAIT_S)
    assert not await rooms.hall.is_heard_best(never, WORDS, settles=False)  # Once is enough.


async def test_a_stop_counts_where_something_goes_on_however_it_was_heard() -> None:
    rooms = Rooms()
    rooms.kitchen.is_busy = lambda: True
    assert await rooms.hear((0.05, "stop", 0.2), (0.5, "stop", 0.1), settles=True) == (True, False)
    rooms.hall.is_busy = lambda: True
    assert await rooms.hear((0.05, "stop", 0.2), (0.5, "stop", 0.1), settles=True) == (True, True)


async def test_the_device_that_heard_its_name_goes_first() -> None:
    rooms = Rooms()
    near = hear(rooms.kitchen, "kitchen", 0.5, addressed=False)
    far = hear(rooms.hall, "hall", 0.1)
    acts = await asyncio.gather(
        said(rooms.kitchen, near, WORDS, 0.1, settles=False),
        said(rooms.hall, far, WORDS, 0.1, settles=False),
    )
    assert tuple(acts) == (False, True)


async def test_nobody_s_device_silences_another_person_s() -> None:
    rooms = Rooms(of=("", "ann"))
    assert await rooms.hear((0.5, WORDS, 0.1), (0.1, WORDS, 0.1)) == (True, True)


async def test_who_heard_best_does_not_wait_for_the_others() -> None:
    rooms, loop = Rooms(), asyncio.get_running_loop()
    near, far = hear(rooms.kitchen, "kitchen", 0.5), hear(rooms.hall, "hall", 0.1)
    before = loop.time()
    assert await rooms.kitchen.is_heard_best(near, WORDS, settles=False)
    assert loop.time() == before
    assert not await said(rooms.hall, far, WORDS, 1.5, settles=False)
