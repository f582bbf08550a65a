"""Recognises a question about code: "What would that do?"

Code that waits for a yes is neither approved nor refused by one, and goes on waiting while it is
answered. While code runs, words are told to the model before its next reply, unless they ask of
that code what it does, and no more than that: such a question is answered beside it.
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

_IT = r"(?:that|this|it|(?:the|this|that)\s+(?:code|script|program|command|run))"
_ES = r"(?:das|es|dies|der\s+(?:code|befehl)|das\s+(?:programm|skript))"
_ABOUT_RUNNING = re.compile(
    rf"""
    (?:(?:okay|ok|well|and|but|so|wait|hm+|sorry|und|aber|also|moment)\b[\s,.!]*)*
    (?:
        what(?:'s|\s+is|\s+does|\s+would|\s+will|\s+did|'ll|'d)\s+{_IT}
        (?:\s+(?:do|doing|going\s+to\s+do|mean|for|change|changing|touch|write|delete|read))?
      | what\s+(?:is|was)\s+{_IT}\s+(?:supposed|meant)\s+to\s+do
      | why(?:\s+(?:is|does|do|are|would|did)\s+(?:{_IT}|you)(?:\s+(?:do|doing|need(?:ed)?))?
        (?:\s+(?:that|this|it))?)?
      | how\s+does\s+{_IT}\s+work
      | is\s+{_IT}\s+(?:safe|dangerous|risky)
      | (?:does|will|would|can|is|did)\s+{_IT}\s+(?:going\s+to\s+)?
        (?:delete|deleting|change|changing|write|writing|send|sending|touch|overwrite|remove)
        (?:\s+(?:anything|something|files|any\s+files|my\s+files|data))?
      | (?:explain|describe)\s+{_IT} | tell\s+me\s+what\s+{_IT}\s+(?:does|is\s+doing|would\s+do)
      | was\s+(?:macht|tut|ist|w\u00fcrde|wird|soll)\s+{_ES}(?:\s+(?:tun|machen|bewirken))?
      | (?:warum|wieso|weshalb|wozu)(?:\s+(?:macht|tut|ist|machst\s+du)\s+{_ES}|\s+das)?
      | wie\s+funktioniert\s+{_ES} | ist\s+{_ES}\s+(?:sicher|gef\u00e4hrlich)
      | (?:l\u00f6scht|\u00e4ndert|schreibt|\u00fcberschreibt|sendet)\s+{_ES}
        (?:\s+(?:etwas|was|dateien|daten))?
      | (?:erkl\u00e4r|erl\u00e4uter|beschreib)e?\s+(?:mir\s+)?{_ES}
    )
    (?:\s+(?:here|exactly|again|now|right\s+now|at\s+all|please|bitte|genau|gerade|eigentlich))*
    [\s?.!]*
    """,
    re.IGNORECASE | re.VERBOSE,
)


def asks_about_code(text: str) -> bool:
    """Whether these words ask something, rather than say what is to be done."""
    return _ABOUT.match(text.strip()) is not None


def asks_about_running_code(text: str) -> bool:
    """Whether these words ask what code does, is for, or may harm, and say nothing else."""
    return _ABOUT_RUNNING.fullmatch(text.strip()) is not None
