"""Speech for programs: a recording becomes text, and text becomes sound. No conversation is begun.

A recording is a WAV file: other forms would be taken apart by a decoder of many formats inside the
server, which strangers' files are not worth.
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

from websockets.http11 import Response

from sayso.audio.errors import BadSound
from sayso.audio.resample import resampler
from sayso.audio.wav import header, parse
from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.adapters.openai.errors import BadRequest, answered_error
from sayso.server.adapters.openai.form_data import read_form
from sayso.server.adapters.spoken_text import SpokenText
from sayso.server.gateway.http.adapter_routes import HttpRequest, Route, Routes
from sayso.server.gateway.http.responses import answered, answered_json, answered_stream
from sayso.server.speech.recognition.session import MAX_UTTERANCE
from sayso.server.speech.speech import Speech
from sayso.server.speech.synthesis.session import SpeakingStyle

RECORDING_BYTES: Final = 25 * 2**20
"""As the API has it: a quarter of an hour at 16 kHz."""
HEARING_RATE: Final = 16_000
SPEECH_RATE: Final = 24_000
"""Samples a second of raw sound, as the API has it."""
LONGEST_TEXT: Final = 4_096
"""Characters that are spoken at once, as the API has it."""
PIECE: Final = HEARING_RATE * 2
"""Bytes of a recording that are taken in at once: a second."""
SPEEDS: Final = (0.25, 4.0)
FORMS: Final = ("wav", "pcm")
ENDLESS: Final = 0x7FFFFFFF - 44
"""What a WAV header says of sound whose length is not known yet."""


class Audio:
    """Answers transcriptions and speech."""

    def __init__(self, speech: Speech) -> None:
        self._speech = speech

    def add_to(self, routes: Routes) -> None:
        """From now on its paths are answered."""
        hears = Route(
            "POST", "/v1/audio/transcriptions", self.transcribe, body_bytes=RECORDING_BYTES
        )
        routes.add(hears)
        routes.add(Route("POST", "/v1/audio/speech", self.speak))

    # ── A recording becomes text ─────────────────────────────────────────────────────────────────

    async def transcribe(self, request: HttpRequest) -> Response:
        """The words of a recording."""
        try:
            form = read_form(request.headers.get("Content-Type", ""), await request.whole_body())
            pcm = await asyncio.to_thread(_samples, form.get("file", b""))
            kind = _answer_form(form.get("response_format", b"json"))
        except BadRequest as error:
            return answered_error(error)
        language = form.get("language", b"").decode(errors="replace")[:35]
        hearing = self._speech.recognition.listen(
            lambda _: None, device=f"a program: {request.who.device}", language=language
        )
        try:
            for start in range(0, len(pcm), PIECE):
                hearing.feed(pcm[start : start + PIECE])
                await asyncio.sleep(0)
            heard = await hearing.finish()
        finally:
            hearing.drop()
        if kind == "text":
            return answered("text/plain; charset=utf-8", f"{heard.text}\n")
        told: dict[str, Any] = {"text": heard.text}
        if kind == "verbose_json":
            seconds = len(pcm) / 2 / HEARING_RATE
            told |= {"task": "transcribe", "language": heard.language, "duration": seconds}
        return answered_json(told)

    # ── Text becomes sound ───────────────────────────────────────────────────────────────────────

    async def speak(self, request: HttpRequest) -> Response:
        """The sound of a text, as it is made."""
        try:
            body = _json(await request.whole_body())
            text, style, form = _wanted_speech(body)
        except BadRequest as error:
            return answered_error(error)
        if style.voice and not await self._speech.synthesis.has_voice(style.voice):
            style = SpeakingStyle(speed=style.speed)  # programs name voices of their own maker's
        kind = "audio/wav" if form == "wav" else "audio/pcm"
        return answered_stream(kind, self._sound(text, style, has_header=form == "wav"))

    async def _sound(
        self, text: str, style: SpeakingStyle, *, has_header: bool
    ) -> AsyncIterator[bytes]:
        spoken = SpokenText(self._speech.synthesis, style, SPEECH_RATE)
        spoken.say(text)
        spoken.finish()
        async with aclosing(spoken.sound()) as sounds:
            if has_header:
                yield header(SPEECH_RATE, ENDLESS)
            async for sound in sounds:
                yield sound


def _answer_form(wanted: bytes) -> str:
    """How a transcript is answered. Raises BadRequest."""
    kind = wanted.decode(errors="replace")
    if kind not in ("json", "text", "verbose_json"):
        raise BadRequest("`response_format` is json, verbose_json or text here.")
    return kind


def _samples(file: bytes) -> bytes:
    """A recording as recognition takes it. Raises BadRequest."""
    if not file:
        raise BadRequest("`file` must be a WAV file.")
    try:
        wav = parse(file)
    except (BadSound, struct.error) as error:
        raise BadRequest(f"The file {error}") from None
    pcm = wav.data
    if wav.kind != "i2" or wav.channels != 1:
        from sayso.audio.convert import mix  # numpy costs 100 ms

        pcm = mix(wav.data, wav.kind, wav.channels)
    if len(pcm) // 2 > MAX_UTTERANCE * wav.rate:
        raise BadRequest(f"A recording has {MAX_UTTERANCE:g} seconds at most: send it in pieces.")
    stream = resampler(wav.rate, HEARING_RATE)
    return stream.feed(pcm) + stream.finish()


def _wanted_speech(body: Mapping[str, Any]) -> tuple[str, SpeakingStyle, str]:
    text, voice = body.get("input"), body.get("voice", "")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest("`input` must be a text.")
    if len(text) > LONGEST_TEXT:
        raise BadRequest(f"`input` has {LONGEST_TEXT} characters at most: ask again for the rest.")
    form = body.get("response_format", "wav")
    if form not in FORMS:
        raise BadRequest(f"`response_format` is {' or '.join(FORMS)} here.")
    speed = body.get("speed", 1.0)
    is_number = isinstance(speed, int | float) and not isinstance(speed, bool)
    if not is_number or not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise BadRequest("`speed` is a number from 0.25 to 4.")
    style = SpeakingStyle(voice if isinstance(voice, str) else "", float(speed))
    return text, style, form


def _json(body: bytes) -> Mapping[str, Any]:
    value: object = None
    with suppress(UnicodeDecodeError, UntrustedJsonError):
        value = read_json(body.decode())
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    return value
