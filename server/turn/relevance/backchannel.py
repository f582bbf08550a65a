"""Recognises backchannels: sounds that mean "I am listening" and must not stop an answer."""

import re

_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
_SOUNDS_IN_BRACKETS = re.compile(r"[\[(*][^\])*]*[\])*]")
"""Recognisers write "(coughs)", "[laughter]" and "*sigh*"."""

_ENGLISH = """
ah aha ahem alright cool eh er erm good great ha haha hah hm hmm hmmm huh interesting mhm mhmm mm
mm-hm mm-hmm mmm mmhm nice oh ok okay ooh ouch really right sure uh uh-huh uhm um wow yeah yep yes
i see
"""
_GERMAN = """
ach ach so achso äh ähm genau gut hm hmm ja jaja klar mhm mm na naja oh okay schön so stimmt super
tja
"""
MURMURS = frozenset(f"{_ENGLISH} {_GERMAN}".split())
"""Of all languages at once: a listener's sounds are alike, and a request is never made of them."""


def is_backchannel(text: str) -> bool:
    """Whether these words, if there are any, are no more than a listener's sounds."""
    words = _WORD.findall(_SOUNDS_IN_BRACKETS.sub(" ", text.lower()))
    return all(word in MURMURS for word in words)
