"""A recogniser in another server, over real sockets: what is sent, and what is believed."""

import asyncio
import json
import math
import threading
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import pytest

from sayso.server.speech.engines.remote.address import Address
from sayso.server.speech.engines.remote.recognizer import RemoteRecognizer
from sayso.server.speech.engines.remote.server import Access
from sayso.server.speech.engines.remote.server import SpeechServer as Client
from sayso.server.speech.errors import ServerFailed
from sayso.server.speech.recognition.agreement import Partial
from sayso.server.speech.recognition.recognizer import HEARING_RATE, DraftNotMade
from sayso.server.speech.recognition.scheduler import FixedCapacity
from sayso.server.speech.recognition.session import SpeechRecognition
from tests.speech.sounds import voice
from tests.speech_server import Answer, SpeechServer, fails, heard, tone

WAIT_S = 20.0
KEY = "a-key-for-tests"
VOICE = tone(1.0, HEARING_RATE)
SILENCE = bytes(2 * HEARING_RATE)


@asynccontextmanager
async def recognizer(
    server: SpeechServer, *, key: str = "", language: str = ""
) -> AsyncIterator[RemoteRecognizer]:
    access = Access(Address.parse("ears", server.url), "SPEECH_KEY" if key else "", key)
    remote = RemoteRecognizer(Client(access), "whisper-1", language=language)
    try:
        async with asyncio.timeout(WAIT_S):
            yield remote
    finally:
        await remote.close()


async def trouble_with(*answers: Answer, key: str = "", wants: str = "") -> tuple[str, int]:
    """What is said where a server answers so, and how often it was asked."""
    with SpeechServer(hears=answers, key=wants) as server:
        async with recognizer(server, key=key) as remote:
            with pytest.raises(ServerFailed) as told:
                await remote.transcribe(VOICE)
            assert remote.trouble == str(told.value)
        return str(told.value), len(server.requests)


async def test_what_is_said_goes_there_as_a_wav_file_with_what_helps_to_understand_it() -> None:
    segment = {"text": " It is late.", "avg_logprob": -0.1, "no_speech_prob": 0.01}
    answer = heard("It is late.", language="english", segments=[segment])
    with SpeechServer(hears=[answer], key=KEY) as server:
        async with recognizer(server, key=KEY) as remote:
            transcript = await remote.transcribe(VOICE * 2, prompt="Look.", language="en")
            assert remote.trouble == ""
    assert (transcript.text, transcript.language) == ("It is late.", "en")
    assert transcript.confidence == pytest.approx(math.exp(-0.1))
    request = server.requests[0]
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert {"model": "whisper-1", "prompt": "Look.", "language": "en"}.items() <= (
        request.fields.items()
    )
    with wave.open(BytesIO(request.sound)) as sound:
        assert (sound.getframerate(), sound.getnchannels()) == (HEARING_RATE, 1)
        assert sound.readframes(sound.getnframes()) == VOICE * 2


async def test_a_language_is_found_and_believed_if_there_was_enough_to_hear() -> None:
    with SpeechServer(hears=[heard("Guten Abend.", language="german")]) as server:
        async with recognizer(server) as remote:
            long = await remote.transcribe(VOICE * 3)
            short = await remote.transcribe(VOICE)
        async with recognizer(server, language="fr") as remote:
            fixed = await remote.transcribe(VOICE, language="en")
    assert (long.language, long.language_sure >= 0.5) == ("de", True)
    assert (short.language, short.language_sure >= 0.5) == ("de", False)
    assert fixed.language == server.requests[-1].fields["language"] == "fr"


async def test_silence_is_sent_nowhere() -> None:
    with SpeechServer(hears=["What nobody said."]) as server:
        async with recognizer(server) as remote:
            assert (await remote.transcribe(SILENCE)).text == ""
            assert (await remote.transcribe(b"")).text == ""
            assert not server.requests


async def test_what_a_server_makes_up_of_noise_is_not_believed() -> None:
    invented = {"text": "Thanks for watching!", "avg_logprob": -0.9, "no_speech_prob": 0.9}
    said = {"text": " Good night.", "avg_logprob": -0.2, "no_speech_prob": 0.0}
    both = heard("Good night. Thanks for watching!", segments=[said, invented])
    answers = [heard("Thank you."), heard("(wind blowing)"), both]
    with SpeechServer(hears=answers) as server:
        async with recognizer(server) as remote:
            texts = [(await remote.transcribe(VOICE)).text for _ in answers]
    assert texts == ["", "", "Good night."]


async def test_a_server_that_knows_no_details_is_asked_for_the_text_alone_from_then_on() -> None:
    answers = [fails(400, "unknown response_format"), heard("One."), heard("Two.")]
    with SpeechServer(hears=answers) as server:
        async with recognizer(server) as remote:
            texts = [(await remote.transcribe(VOICE)).text for _ in range(2)]
    assert texts == ["One.", "Two."]
    shapes = [request.fields["response_format"] for request in server.requests]
    assert shapes == ["verbose_json", "json", "json"]


@pytest.mark.parametrize(
    ("answers", "says", "asked"),
    [
        ([fails(401)], "name the variable that holds one in ears.api_key_variable", 1),
        ([fails(404)], "check ears.api_base and ears.api_model", 1),
        ([fails(413)], "say it in parts", 1),
        ([fails(429)], "wait a minute", 2),
        ([fails(429, retry_after="60")], "wait a minute", 1),
        ([fails(429, retry_after="Fri, 20 Nov 2026 08:00:00 GMT")], "wait a minute", 1),
        ([fails(503)], "has trouble on its side", 2),
        ([Answer([b"{}"], 307, headers={"location": "/v1/elsewhere"})], "sends requests else", 1),
        ([fails(422, "no model of this name")], "(no model of this name)", 2),
        ([Answer([b"<html>"], kind="text/html")], "does not answer like a speech server", 1),
        ([Answer([b'{"texts": []}'])], "does not answer like a speech server", 1),
        ([Answer([b'{"text": 7}'])], "does not answer like a speech server", 1),
        ([Answer([b"[" * 100_000])], "does not answer like a speech server", 1),
        ([Answer([b'{"text": "', b"a" * 2_000_000, b'"}'])], "does not answer like a speech", 1),
        ([Answer([b'{"text": "half'], ending="cut")], "broke; try again", 2),
        ([Answer([b" " * 60_000], ending="endless")], "does not answer like a speech server", 1),
    ],
)
async def test_each_trouble_is_one_sentence_that_says_what_to_do(
    answers: list[Answer], says: str, asked: int
) -> None:
    sentence, requests = await trouble_with(*answers)
    assert says in sentence
    assert requests == asked


async def test_a_wrong_key_is_told_by_its_variable_and_never_by_itself() -> None:
    sentence, requests = await trouble_with(heard("Hm."), key="wrong-key-for-tests", wants=KEY)
    assert "put a valid one into SPEECH_KEY" in sentence
    assert requests == 1


async def test_a_server_that_says_the_key_again_does_not_have_it_shown() -> None:
    refusal = fails(400, f"the key {KEY} may not use this")
    with SpeechServer(hears=[refusal], key=KEY) as server:
        async with recognizer(server, key=KEY) as remote:
            with pytest.raises(ServerFailed) as told:
                await remote.transcribe(VOICE)
    assert "may not use this" in str(told.value)
    assert KEY not in str(told.value)
    assert KEY not in repr(Access(Address.parse("ears", server.url), "SPEECH_KEY", KEY))


async def test_a_server_that_is_not_there_is_told_of() -> None:
    with SpeechServer() as server:
        pass
    async with recognizer(server) as remote:
        with pytest.raises(ServerFailed, match="cannot be reached; check that it runs"):
            await remote.transcribe(VOICE)


@pytest.mark.parametrize("first", [fails(503), fails(429, retry_after="0"), Answer(ending="cut")])
async def test_what_may_pass_is_asked_again_and_forgotten(first: Answer) -> None:
    with SpeechServer(hears=[first, heard("Good morning.")]) as server:
        async with recognizer(server) as remote:
            assert (await remote.transcribe(VOICE)).text == "Good morning."
            assert remote.trouble == ""


async def test_a_connection_is_used_again() -> None:
    with SpeechServer(hears=["One.", "Two."]) as server:
        async with recognizer(server) as remote:
            for _ in range(3):
                await remote.transcribe(VOICE)
        assert (server.connections, len(server.requests)) == (1, 3)


async def test_nothing_is_sent_where_a_server_sends_it_on_to() -> None:
    with SpeechServer(hears=["Caught."]) as other:
        away = Answer([b"{}"], 308, headers={"location": f"{other.url}/audio/transcriptions"})
        with SpeechServer(hears=[away]) as server:
            async with recognizer(server, key=KEY) as remote:
                with pytest.raises(ServerFailed):
                    await remote.transcribe(VOICE)
        assert other.connections == 0


async def test_what_is_said_does_not_pass_a_proxy_on_its_way_through_the_house(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with SpeechServer(hears=["At home."]) as server, SpeechServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        async with recognizer(server) as remote:
            assert (await remote.transcribe(VOICE)).text == "At home."
        assert proxy.connections == 0


async def test_a_text_that_nobody_can_have_said_in_this_time_is_cut_and_shown_on_one_line() -> None:
    words = " ".join(f"word{number}" for number in range(20_000))
    answers = [heard(words), heard("Be\u202e \x1b[31mcareful\n now")]
    with SpeechServer(hears=answers) as server:
        async with recognizer(server) as remote:
            assert 0 < len((await remote.transcribe(VOICE)).text) <= 240
            assert (await remote.transcribe(VOICE)).text == "Be [31mcareful now"


# --- drafts ---


async def test_a_final_does_not_wait_for_a_draft() -> None:
    never = threading.Event()
    slow = Answer(heard("dra").blocks, before=never)
    with SpeechServer(hears=[slow, heard("The final.")]) as server:
        async with recognizer(server) as remote:
            draft = asyncio.create_task(remote.transcribe(VOICE, draft=True))
            assert await asyncio.to_thread(server.was_asked)
            assert (await remote.transcribe(VOICE)).text == "The final."
            with pytest.raises(DraftNotMade):  # one is under way already
                await remote.transcribe(VOICE, draft=True)
            draft.cancel()
            assert await asyncio.to_thread(server.was_left)
            await asyncio.wait({draft})


async def test_a_server_that_fails_is_asked_for_no_drafts_until_it_works_again() -> None:
    with SpeechServer(hears=[fails(500), heard("Now."), heard("Now it")]) as server:
        async with recognizer(server) as remote:
            for _ in range(3):
                with pytest.raises(DraftNotMade):
                    await remote.transcribe(VOICE, draft=True)
            assert len(server.requests) == 1
            await remote.transcribe(VOICE)
            assert (await remote.transcribe(VOICE, draft=True)).text == "Now it"


async def test_what_is_understood_is_shown_while_somebody_speaks() -> None:
    with SpeechServer(hears=["How deep is", "How deep is the sea?"]) as server:
        async with recognizer(server) as remote:
            shown: asyncio.Queue[Partial] = asyncio.Queue()
            utterance = SpeechRecognition(remote, capacity=FixedCapacity(4)).listen(
                shown.put_nowait
            )
            utterance.feed(voice(0.6))
            partial = await shown.get()
            assert partial.stable + partial.tail == "How deep is"
            utterance.feed(voice(0.6))
            assert (await utterance.finish()).text == "How deep is the sea?"


async def test_drafts_that_would_cost_are_not_made_where_nobody_wants_them() -> None:
    with SpeechServer(hears=["One."]) as server:
        access = Access(Address.parse("ears", server.url))
        remote = RemoteRecognizer(Client(access), "whisper-1", drafts=False)
        with pytest.raises(DraftNotMade):
            await remote.transcribe(VOICE, draft=True)
        await remote.close()
        assert not server.requests


async def test_several_people_are_understood_at_once_and_shown_what_is_understood() -> None:
    """With real partials: one server, four who talk, one final each."""
    together = threading.Event()
    answers = [Answer(heard(f"Number {n}.").blocks, before=together) for n in range(4)]
    with SpeechServer(hears=answers) as server:
        async with recognizer(server) as remote:
            recognition = SpeechRecognition(remote, capacity=FixedCapacity(4))
            utterances = [recognition.listen(lambda _: None, f"device {n}") for n in range(4)]
            for utterance in utterances:
                utterance.feed(VOICE[: HEARING_RATE // 2])
            finals = [asyncio.create_task(utterance.finish()) for utterance in utterances]
            for _ in range(4):
                assert await asyncio.to_thread(server.was_asked)
            together.set()
            texts = {(await final).text for final in finals}
    assert texts == {f"Number {n}." for n in range(4)}


async def test_an_answer_is_read_whatever_numbers_are_in_it() -> None:
    odd: list[object] = [None, "x", -1e308, 1e308, True, {}, 10**18]
    segments = [{"text": "Hi.", "avg_logprob": one, "no_speech_prob": 0} for one in odd]
    with SpeechServer(hears=[heard("Hi.", segments=segments, language=odd)]) as server:
        async with recognizer(server) as remote:
            transcript = await remote.transcribe(VOICE)
    assert json.dumps(transcript.confidence)
    assert 0 <= transcript.confidence <= 1
