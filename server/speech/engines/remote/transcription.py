"""Reads another server's transcription, and drops what is not to be believed. Pure."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sayso.server.speech.engines.remote.server import printable
from sayso.server.speech.recognition.coverage import is_voiced
from sayso.server.speech.recognition.hallucinations import (
    Pass,
    collapse,
    has_words,
    is_phantom,
    judge_last,
)
from sayso.server.speech.recognition.loudness import Samples
from sayso.server.speech.recognition.recognizer import HEARING_RATE, Transcript
from sayso.server.speech.text.language_id import NAMES

CODES: Final[Mapping[str, str]] = {name.lower(): code for code, name in NAMES.items()}
"""Servers name a language by its code, or in English."""

LETTERS_PER_SECOND: Final = 40
LETTERS_AT_LEAST: Final = 200
"""A text with more letters than that was not said in this time, by anybody."""

LIKELY: Final = -0.35
"""Mean log-probability of words where a server does not tell how sure it is: that of ordinary
speech, so that nothing is doubted or kept on that ground alone."""

SURE_AFTER_S: Final = 2.0
"""Seconds of speech from which a language that was found is believed; of shorter words it is often
taken for another one."""

SURE: Final = 0.6
UNSURE: Final = 0.3
"""Servers do not tell how sure they are of a language."""


def understood(content: Mapping[str, Any], samples: Samples, expected: str) -> Transcript:
    """The transcript in an answer; its text is empty if nobody said it."""
    seconds = len(samples) / HEARING_RATE
    believed = [heard for heard in _passes(content) if judge_last(heard) == "believe"]
    text = printable(" ".join(heard.text for heard in believed))
    text = collapse(text[: int(LETTERS_AT_LEAST + LETTERS_PER_SECOND * seconds)])
    if not has_words(text) or (is_phantom(text) and not is_voiced(text, samples)):
        return Transcript("", expected or "en", 0.0, 0.0)
    letters = sum(len(heard.text) for heard in believed)
    mean = sum(heard.log_probability * len(heard.text) for heard in believed) / letters
    language, sure = _language(content.get("language"), expected, seconds)
    return Transcript(text, language, math.exp(min(0.0, mean)), sure)


def _passes(content: Mapping[str, Any]) -> Iterator[Pass]:
    """The segments of an answer, or its whole text where it has none that can be used."""
    segments = content.get("segments")
    if isinstance(segments, list) and segments:
        found = [_segment(one) for one in segments if isinstance(one, dict)]
        if all(found) and len(found) == len(segments):
            yield from (one for one in found if one and one.text.strip())
            return
    yield Pass(content["text"].strip(), LIKELY, 0.0)


def _segment(segment: Mapping[str, Any]) -> Pass | None:
    text = segment.get("text")
    if not isinstance(text, str):
        return None
    sure = _number(segment.get("avg_logprob"), LIKELY)
    return Pass(text.strip(), min(0.0, sure), _number(segment.get("no_speech_prob"), 0.0))


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise


def _language(told: object, expected: str, seconds: float) -> tuple[str, float]:
    """The language's code, and how sure that is."""
    if expected:
        return expected, 1.0
    name = told.strip().lower().partition("-")[0] if isinstance(told, str) else ""
    if code := CODES.get(name, name if name in NAMES else ""):
        return code, SURE if seconds >= SURE_AFTER_S else UNSURE
    return "en", 0.0
