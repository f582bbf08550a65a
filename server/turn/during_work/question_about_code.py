"""Recognises a question about code that waits for a yes: "What would that do?"

It neither approves nor refuses: the code goes on waiting while it is answered.
"""

import re

_ABOUT = re.compile(
    r"""
    (?:(?:okay|ok|well|and|but|so|wait|hm+|sorry|und|aber|also|moment)\b[\s,.!]*)*
    (?:
        (?:what|what's|whats|why|which|how|where|who)\b
      | (?:is|does|will|would|could|can|did|has|are|do)\s
        (?:it|that|this|these|there|they|the\s+\w+)\b
      | (?:explain|describe)\b | tell\s+me\s+(?:what|why|how|which|more)\b
      | (?:was|warum|wieso|weshalb|wozu|wof\u00fcr|welche\w*|wie|wo|wohin|worauf)\b
      | (?:ist|sind|macht|wird|w\u00fcrde|kann|l\u00f6scht|\u00e4ndert|liest|schreibt)\s
        (?:das|es|der|dies\w*|da)\b
      | (?:erkl\u00e4r|erl\u00e4uter|beschreib)\w*\b | sag\s+mir,?\s+(?:was|warum|wie|welche\w*)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def asks_about_code(text: str) -> bool:
    """Whether these words ask something, rather than say what is to be done."""
    return _ABOUT.match(text.strip()) is not None
