"""Describes to Home Assistant what is offered here: which languages are heard and spoken."""

from collections.abc import Sequence
from typing import Any, Final

from sayso.server.speech.speech import Speech

_CODES: Final = (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha "
    "haw he hi hr ht hu hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr "
    "ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg "
    "th tk tl tr tt uk ur uz vi yi yo yue zh "
)
LANGUAGES: Final = tuple(_CODES.split())
"""What Whisper hears."""

VOICE: Final = "sayso"
"""How the usual voice is called."""


async def description(speech: Speech, version: str) -> dict[str, Any]:
    """The data of an `info` event."""
    only = speech.recognition.only_language
    hears = [only] if only else LANGUAGES
    speaks = [code for code in LANGUAGES if await speech.synthesis.can_speak(code)]
    speaks = speaks or [speech.synthesis.language]

    def program(about: str, **more: object) -> dict[str, Any]:
        return _artifact("sayso", about, version) | more

    def model(name: str, about: str, languages: Sequence[str]) -> dict[str, Any]:
        return _artifact(name, about, version) | {"languages": list(languages)}

    hearing = model("sayso", "The recognition that Sayso is set to", hears)
    voice = model(VOICE, "The voice that Sayso is set to", speaks)
    talking = model("sayso", "Sayso", sorted({*hears, *speaks}))
    return {
        "asr": [program("Sayso hears", models=[hearing])],
        "tts": [program("Sayso speaks", voices=[voice], supports_synthesize_streaming=True)],
        "handle": [program("Sayso answers, and acts on your say-so", models=[talking])],
        "intent": [],
        "wake": [],
        "mic": [],
        "snd": [],
    }


def _artifact(name: str, about: str, version: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": about,
        "attribution": {"name": "Sayso", "url": ""},
        "installed": True,
        "version": version,
    }
