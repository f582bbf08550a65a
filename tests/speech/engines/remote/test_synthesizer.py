"""A synthesiser in another server, over real sockets: played as it comes, and left at once."""

import asyncio
import struct
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sayso.audio.wav import header
from sayso.server.speech.engines.remote.address import Address
from sayso.server.speech.engines.remote.server import Access
from sayso.server.speech.engines.remote.server import SpeechServer as Client
from sayso.server.speech.engines.remote.voices import RemoteVoices
from sayso.server.speech.errors import ServerFailed
from sayso.server.speech.synthesis.session import (
    Chunk,
    Handed,
    SpeakingStyle,
    SpeechSynthesis,
    SynthesisFailed,
)
from sayso.server.speech.synthesis.synthesizer import StreamingSynthesizer
from tests.speech_server import RATE, Answer, SpeechServer, fails, said, tone

WAIT_S = 20.0
TEXT = "The sea is deep and blue and very wide and nobody has seen all of it yet."
ENDLESS_LENGTH = struct.pack("<I", 0xFFFFFFFF)


@asynccontextmanager
async def voices(server: SpeechServer, *languages: str) -> AsyncIterator[RemoteVoices]:
    remote = RemoteVoices(
        Client(Access(Address.parse("voice", server.url))), "tts-1", "alloy", languages
    )
    try:
        async with asyncio.timeout(WAIT_S):
            yield remote
    finally:
        await remote.close()


class Listener:
    """Keeps what it is handed, and lets a test wait for it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Handed] = asyncio.Queue()

    def __call__(self, chunk: Handed) -> None:
        self.queue.put_nowait(chunk)

    async def chunks(self) -> list[Chunk]:
        """All until the end."""
        found = []
        while isinstance(chunk := await self.queue.get(), Chunk):
            found.append(chunk)
        assert chunk is None, chunk
        return found

    async def trouble(self) -> str:
        """What went wrong in the end."""
        while isinstance(chunk := await self.queue.get(), Chunk):
            pass
        assert isinstance(chunk, SynthesisFailed)
        return chunk.message


async def spoken(server: SpeechServer, text: str = TEXT, *, rate: int = 0) -> list[Chunk]:
    listener = Listener()
    async with voices(server) as remote:
        style = SpeakingStyle(rates=(rate,) if rate else ())
        reply = SpeechSynthesis(remote).speak(listener, style)
        reply.say(text)
        reply.finish()
        return await listener.chunks()


async def trouble_with(*answers: Answer, text: str = TEXT) -> tuple[str, int]:
    with SpeechServer(says=answers) as server:
        listener = Listener()
        async with voices(server) as remote:
            reply = SpeechSynthesis(remote).speak(listener)
            reply.say(text)
            reply.finish()
            sentence = await listener.trouble()
            assert remote.trouble == sentence
        return sentence, len(server.requests)


def seconds(chunks: list[Chunk]) -> float:
    return sum(len(chunk.sound.pcm) / 2 / chunk.sound.rate for chunk in chunks)


def words(chunks: list[Chunk]) -> list[str]:
    return [word.text for chunk in chunks for word in chunk.sound.words]


async def test_a_sound_is_played_while_the_rest_of_it_is_still_made() -> None:
    rest = threading.Event()
    answer = said(tone(2.0), tone(2.0), between=rest)
    with SpeechServer(says=[answer]) as server:
        listener = Listener()
        async with voices(server) as remote:
            reply = SpeechSynthesis(remote).speak(listener)
            reply.say(TEXT)
            reply.finish()
            first = await listener.queue.get()
            assert isinstance(first, Chunk)
            assert TEXT.startswith(first.text)
            assert first.text != TEXT
            rest.set()
            chunks = [first, *await listener.chunks()]
    assert " ".join(chunk.text for chunk in chunks) == TEXT
    assert words(chunks) == TEXT.split()
    assert seconds(chunks) == pytest.approx(4.0)
    asked = server.requests[0].fields
    assert (asked["input"], asked["model"], asked["voice"]) == (TEXT, "tts-1", "alloy")


async def test_words_are_laid_along_each_piece_without_gap_or_overlap() -> None:
    with SpeechServer(says=[said(*[tone(0.5)] * 10)]) as server:
        chunks = await spoken(server)
    for chunk in chunks:
        ends = [0, *(word.end for word in chunk.sound.words)]
        assert [word.start for word in chunk.sound.words] == ends[:-1]
        assert ends[-1] == len(chunk.sound.pcm) // 2
        assert " ".join(word.text for word in chunk.sound.words) == chunk.text


@pytest.mark.parametrize("rate", [16_000, 48_000])
async def test_a_sound_has_the_rate_that_the_loudspeaker_takes(rate: int) -> None:
    with SpeechServer(says=[said(*[tone(0.1)] * 40)]) as server:
        chunks = await spoken(server, rate=rate)
    assert {chunk.sound.rate for chunk in chunks} == {rate}
    assert seconds(chunks) == pytest.approx(4.0, abs=0.02)


@pytest.mark.parametrize(
    ("kind", "head", "rate"),
    [
        ("audio/pcm", b"", RATE),
        ("audio/pcm;rate=16000", b"", 16_000),
        ("audio/wav", header(22_050, 0)[:-4] + ENDLESS_LENGTH, 22_050),
        ("application/octet-stream", header(16_000, 2_000), 16_000),
    ],
)
async def test_the_sound_itself_tells_its_rate(kind: str, head: bytes, rate: int) -> None:
    sound = head + tone(1.0, rate)
    torn = [sound[at : at + 777] for at in range(0, len(sound), 777)]
    with SpeechServer(says=[said(*torn, kind=kind)]) as server:
        chunks = await spoken(server, "It is late.")
    assert {chunk.sound.rate for chunk in chunks} == {rate}
    assert b"".join(chunk.sound.pcm for chunk in chunks) == tone(1.0, rate)


async def test_a_server_that_makes_no_wav_is_asked_for_raw_sound_from_then_on() -> None:
    answers = [fails(422, "wav?"), said(tone(1.0), kind="application/octet-stream")]
    with SpeechServer(says=answers) as server:
        chunks = await spoken(server, "It is late. Good night to all of you.")
    assert len(chunks) == 2
    assert [one.fields["response_format"] for one in server.requests] == ["wav", "pcm", "pcm"]


async def test_who_breaks_in_has_the_connection_closed_at_once() -> None:
    never = threading.Event()
    with SpeechServer(says=[said(tone(3.0), tone(3.0), between=never)]) as server:
        listener = Listener()
        async with voices(server) as remote:
            reply = SpeechSynthesis(remote).speak(listener)
            reply.say(TEXT)
            reply.finish()
            assert isinstance(await listener.queue.get(), Chunk)
            reply.stop()
            assert await asyncio.to_thread(server.was_left)
            assert remote.trouble == ""


async def test_a_stream_that_is_left_between_two_pieces_is_closed() -> None:
    never = threading.Event()
    with SpeechServer(says=[said(tone(1.0), tone(1.0), between=never)]) as server:
        async with voices(server) as remote:
            speaker = await remote.of("alloy")
            assert isinstance(speaker, StreamingSynthesizer)
            stream = speaker.stream(TEXT)
            assert (await anext(stream)).pcm
            await stream.aclose()
            assert await asyncio.to_thread(server.was_left)


@pytest.mark.parametrize(
    ("answers", "says", "asked"),
    [
        ([fails(401)], "name the variable that holds one in voice.api_key_variable", 1),
        ([fails(404)], "check voice.api_base and voice.api_model", 1),
        ([fails(400, "no voice named alloy")], "(no voice named alloy); check voice.api", 2),
        ([fails(429)], "wait a minute", 2),
        ([fails(429, retry_after="3600")], "wait a minute", 1),
        ([fails(500)], "has trouble on its side", 2),
        ([Answer([b"{}"])], "does not answer like a speech server", 1),
        ([said(b"ID3\x04" + bytes(4_000), kind="audio/mpeg")], "does not answer like", 1),
        ([said(b"<html>" * 100, kind="text/html")], "does not answer like", 1),
        ([said(header(1, 100) + bytes(100), kind="audio/wav")], "does not answer like", 1),
        ([said(b"RIFF" + bytes(200_000), kind="audio/wav")], "does not answer like", 1),
        ([said()], "does not answer like a speech server", 1),
        ([said(tone(1.0), ending="cut")], "broke; try again", 1),
        ([said(ending="cut")], "broke; try again", 2),
        ([said(tone(2.0), ending="endless")], "does not come to an end", 1),
    ],
)
async def test_each_trouble_is_one_sentence_that_says_what_to_do(
    answers: list[Answer], says: str, asked: int
) -> None:
    sentence, requests = await trouble_with(*answers)
    assert says in sentence
    assert requests == asked


async def test_what_may_pass_is_asked_again() -> None:
    with SpeechServer(says=[fails(503), said(tone(1.0))]) as server:
        assert seconds(await spoken(server)) == pytest.approx(1.0)


async def test_what_is_said_often_is_asked_for_once() -> None:
    with SpeechServer(says=[said(tone(1.0))]) as server:
        async with voices(server) as remote:
            synthesis = SpeechSynthesis(remote)
            await synthesis.prepare(["One moment."])
            listener = Listener()
            reply = synthesis.speak(listener)
            reply.say("One moment.")
            reply.finish()
            assert [chunk.text for chunk in await listener.chunks()] == ["One moment."]
    assert len(server.requests) == 1


async def test_a_voice_of_one_language_does_not_speak_another() -> None:
    german = "Das Wetter ist heute sehr schön und morgen wird es regnen."
    with SpeechServer(says=[said(tone(1.0))]) as server:
        listener = Listener()
        async with voices(server, "en-US") as remote:
            assert (remote.language, await remote.pick("", "de")) == ("en", None)
            remarks: list[str] = []
            reply = SpeechSynthesis(remote).speak(listener, on_remark=remarks.append)
            reply.say(german)
            reply.finish()
            await listener.chunks()
        assert german not in {request.fields["input"] for request in server.requests}
        assert "no voice here speaks it" in remarks[0]
        async with voices(server) as remote:
            assert await remote.pick("", "de") == "alloy"


async def test_speed_is_told_to_the_server() -> None:
    with SpeechServer(says=[said(tone(1.0))]) as server:
        async with voices(server) as remote:
            speaker = await remote.of("alloy")
            await speaker.synthesize("Hello.", speed=1.5)
            sound = await speaker.synthesize("Hello you.", speed=9.0)
            server.key = "another-key-for-tests"
            with pytest.raises(ServerFailed):
                await speaker.synthesize("Hello.")
    assert [request.fields["speed"] for request in server.requests[:2]] == [1.5, 2.0]
    assert [word.text for word in sound.words] == ["Hello", "you."]
    assert sound.words[-1].end == len(sound.pcm) // 2
