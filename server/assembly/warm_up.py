"""Synthesises, once the server is up, the phrases that must be said without delay."""

import logging

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.session import SpeechSynthesis
from sayso.server.turn.phrases import PHRASES

log = logging.getLogger(__name__)


async def prepare(synthesis: SpeechSynthesis) -> None:
    """Synthesises the fillers and the approval question, so that they cost nothing later."""
    own = PHRASES.get(synthesis.language, PHRASES["en"])
    phrases = [phrase for kind in ("may_i", "thinking", "acting") for phrase in own[kind]]
    try:
        await synthesis.prepare(phrases)
    except SpeechError as problem:
        log.debug("nothing is prepared to be said: %s", problem)
