"""Recognises words that take back a request and begin another: "No, instead …", "Forget that, …".

Everything else that is said while a request is worked on belongs to it.
"""

import re

_ENGLISH = r"""
(?:no|nah|nope|stop|wait)?[\s,.!]*
(?:
    instead\b
  | (?:forget|scrap|drop)\s+(?:that|it|about\s+(?:that|it))\b
  | never\s*mind(?:\s+(?:that|it))?\b
  | (?:start|begin)\s+(?:over|again|anew)\b
)
"""
_ENGLISH_END = r"(?:no|nah|nope|wait)\b[\s,].*\binstead[\s.!]*$"
_GERMAN = r"""
(?:nein|ne|nee|nö|halt|stopp|stop|warte)?[\s,.!]*(?:doch\s+)?
(?:
    stattdessen\b
  | (?:vergiss|vergessen\s+sie|lass)\s+(?:das|es|den\s+rest)\b
  | (?:fang|beginn|beginne)\s+(?:neu|von\s+vorn\w*|noch\s?mal)\b
)
"""
_GERMAN_END = r"(?:nein|ne|nee|nö)\b[\s,].*\b(?:stattdessen|lieber)\b.*"

_NEW = re.compile(
    rf"\s*(?:{_ENGLISH}|{_ENGLISH_END}|{_GERMAN}|{_GERMAN_END})", re.IGNORECASE | re.VERBOSE
)


def begins_anew(text: str) -> bool:
    """Whether these words put another request in the place of the one that is worked on."""
    return _NEW.match(text) is not None
