"""Several piper voices: each in its own process, loaded when it is first wanted, few at once.

    de ──► thorsten?  not loaded ──► the one that was silent longest ends ──► thorsten is loaded

A voice takes one to two hundred megabytes, and a second to load; the first time, two.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from sayso.server.speech.synthesis.synthesizer import Sound, StreamingSynthesizer, Synthesizer
from sayso.server.speech.synthesis.voices import NoSuchVoice, Voice, best, following, wished
from sayso.server.speech.workers.supervisor import Ready

log = logging.getLogger(__name__)

MOST_LOADED = 2
"""Voices in memory at once: the usual one and that of another language."""


ESPEAK_CODES = {"nb": "no", "cmn": "zh"}
"""Where espeak calls a language otherwise than piper's voices do."""


class PooledVoice(StreamingSynthesizer, Protocol):
    """A voice in a process of its own."""

    @property
    def trouble(self) -> str: ...

    @property
    def restarts(self) -> int: ...

    async def start(self) -> Ready: ...

    async def close(self) -> None: ...


class VoicePool:
    """The `Voices` that are installed on this machine."""

    def __init__(
        self,
        installed: Callable[[], Sequence[Voice]],
        usual: Voice,
        *,
        make: Callable[[Path], PooledVoice],
        most: int = MOST_LOADED,
    ) -> None:
        self._installed = installed
        """Looks at the disk; called in a thread."""
        self._usual = usual
        self._make = make
        self._most = most
        self._voices: tuple[Voice, ...] = (usual,)
        self._loaded: OrderedDict[str, _Part] = OrderedDict()
        """The one that spoke last is last."""
        self._loading = asyncio.Lock()
        self._earlier_restarts = 0
        """Of voices that were put away."""

    @property
    def usual(self) -> str:
        return self._usual.name

    @property
    def language(self) -> str:
        return self._usual.language

    @property
    def loaded(self) -> tuple[str, ...]:
        """Names of the voices in memory, the one that spoke last last."""
        return tuple(self._loaded)

    @property
    def trouble(self) -> str:
        """That of the usual voice; that it makes room for another one is none."""
        part = self._loaded.get(self.usual)
        return part.voice_process.trouble if part else ""

    @property
    def restarts(self) -> int:
        """How often the voices' processes had to be started again."""
        loaded = sum(part.voice_process.restarts for part in self._loaded.values())
        return self._earlier_restarts + loaded

    async def start(self) -> Ready:
        """Load the usual voice; raises SpeechError if that can't be."""
        part = _Part(self._make(self._usual.path))
        self._loaded[self.usual] = part
        ready = await part.voice_process.start()
        if isinstance(spoken := ready.facts.get("language"), str):
            self._usual = replace(self._usual, language=code_of(spoken))
            self._voices = (self._usual,)
        return ready

    async def close(self) -> None:
        """End all workers."""
        while self._loaded:
            _, part = self._loaded.popitem()
            await part.voice_process.close()

    async def language_of(self, name: str) -> str | None:
        voice = await self._find(lambda: wished(self._voices, name))
        return voice.language if voice else None

    async def pick(self, wish: str, language: str) -> str | None:
        def choose() -> Voice | None:
            first = wished(self._voices, wish)
            wishes = [first.name] if first else []
            return best(self._voices, [*wishes, self.usual], language)

        voice = await self._find(choose)
        return voice.name if voice else None

    async def next_to(self, name: str, language: str) -> str | None:
        await self._look_anew()
        speaks = await self.pick(name, language)
        voice = following(self._voices, speaks or "", language)
        return voice.name if voice else None

    async def of(self, name: str) -> Synthesizer:
        voice = await self._find(lambda: wished(self._voices, name))
        if voice is None:
            raise NoSuchVoice(
                f"There is no voice named {name} here; `sayso models` lists those that are."
            )
        async with self._loading:
            if voice.name not in self._loaded:
                await self._make_room()
                await self._load(voice)
            self._loaded.move_to_end(voice.name)
            return self._loaded[voice.name]

    async def _find(self, look: Callable[[], Voice | None]) -> Voice | None:
        """Look among the voices that are known; if it is none of them, see what is new."""
        if (found := look()) is not None:
            return found
        await self._look_anew()
        return look()

    async def _look_anew(self) -> None:
        listed = await asyncio.to_thread(self._installed)
        others = [voice for voice in listed if voice.name != self.usual]
        self._voices = (self._usual, *others)

    async def _load(self, voice: Voice) -> None:
        part = _Part(self._make(voice.path))
        try:
            await part.voice_process.start()
        except BaseException:
            await part.voice_process.close()
            raise
        log.info("The voice %s is loaded.", voice.name)
        self._loaded[voice.name] = part

    async def _make_room(self) -> None:
        """End the voices that were silent longest, once they have said what they are saying."""
        while len(self._loaded) >= self._most:
            name, part = next(iter(self._loaded.items()))
            await part.idle.wait()  # nobody is given it meanwhile: that takes the lock that we hold
            del self._loaded[name]
            await part.voice_process.close()
            self._earlier_restarts += part.voice_process.restarts
            log.info("The voice %s is put away.", name)


def code_of(espeak: str) -> str:
    """The language of one of espeak's voices: `en-us` is `en`."""
    code = espeak.partition("-")[0]
    return ESPEAK_CODES.get(code, code)


class _Part:
    """A loaded voice that knows whether it is being listened to."""

    def __init__(self, voice_process: PooledVoice) -> None:
        self.voice_process = voice_process
        self.idle = asyncio.Event()
        self.idle.set()
        self._asked = 0

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        with self._listened_to():
            return await self.voice_process.synthesize(text, speed=speed)

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        with self._listened_to():
            async with aclosing(self.voice_process.stream(text, speed=speed)) as sounds:
                async for sound in sounds:
                    yield sound

    @contextmanager
    def _listened_to(self) -> Iterator[None]:
        self._asked += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._asked -= 1
            if not self._asked:
                self.idle.set()
