"""What does more than lead on: it is asked about before it is pressed, each time.

A second pair of eyes and no wall: a window can lie about what a button does.
"""

import re
from typing import Final

from sayso.protocol.visible import as_read

_VERBS: Final = (
    # English
    "accept|agree|allow|approve|authori[sz]e|book|buy|checkout|check out|confirm|delete|discard|"
    "donate|empty trash|erase|format|install|log ?out|order|overwrite|pay|permit|post|publish|"
    "purchase|quit|remove|replace|reset|reply|send|share|shut ?down|sign|submit|subscribe|"
    "transfer|trust|uninstall|unsubscribe|upload|wipe|"
    # German
    "absenden|abschicken|akzeptieren|bestellen|best[äa]tigen|bezahlen|buchen|deinstallieren|"
    "einreichen|entfernen|erlauben|ersetzen|formatieren|freigeben|herunterfahren|hochladen|"
    "installieren|kaufen|k[üu]ndigen|l[öo]schen|senden|spenden|teilen|[üu]berschreiben|"
    "[üu]berweisen|unterschreiben|ver[öo]ffentlichen|verwerfen|zahlen|zustimmen|"
    # French, Spanish, Italian
    "acheter|commander|confirmer|envoyer|installer|payer|publier|signer|supprimer|valider|"
    "borrar|comprar|confirmar|eliminar|enviar|firmar|instalar|pagar|publicar|"
    "acquista|cancella|compra|conferma|elimina|installa|invia|ordina|paga"
)
_NAME: Final = re.compile(rf"\b(?:{_VERBS})\b", re.IGNORECASE)
_PRESSED: Final = ("button", "menu item", "link", "toggle button", "menu button", "icon", "cell")

_MODIFIERS: Final = ("ctrl", "alt", "shift")
_SAME_KEYS: Final = {
    "control": "ctrl",
    "option": "alt",
    "return": "enter",
    "esc": "escape",
    "del": "delete",
}
_THE_DESKTOPS: Final = frozenset(("super", "win", "windows", "meta", "cmd", "command"))
_NEVER_WITH_ALT: Final = frozenset(("f1", "f2", "tab", "escape", "space"))
_ASKED_CHORDS: Final = tuple(
    frozenset(each.split("+"))
    for each in ("alt+f4", "ctrl+f4", "ctrl+q", "ctrl+w", "shift+delete", "enter", "space")
)
"""Asked about together with any other key; enter and space alone mean what has them."""


def consequence(role: str, name: str) -> str:
    """What a person is asked before this is pressed; empty where nobody is."""
    read = as_read(name).replace("_", "")  # which marks a key for it
    return f"Press {name!r}?" if role in _PRESSED and _NAME.search(read) else ""


def chord_keys(chord: str) -> tuple[str, ...]:
    """Keys that are pressed together, each once and by one name, in the order in which they go
    down: those first that change what the others mean."""
    keys = [each.strip().lower() for each in chord.split("+")]
    once = dict.fromkeys(_SAME_KEYS.get(each, each) for each in keys)
    first = [each for each in _MODIFIERS if each in once]
    return (*first, *(each for each in once if each not in first))


def chord_hindrance(chord: str) -> str:
    """Why keys are never pressed together, in a sentence; empty if they may be."""
    keys = set(chord_keys(chord))
    if keys & _THE_DESKTOPS:
        return "That key belongs to the desktop, not to an application."
    if len(keys - {*_MODIFIERS}) > 1:
        return "That is more than one key beside ctrl, alt and shift: press one after the other."
    if {"ctrl", "escape"} <= keys or ("alt" in keys and keys & {"ctrl", *_NEVER_WITH_ALT}):
        return "These keys belong to the desktop, not to an application."
    return ""


def chord_consequence(chord: str) -> str:
    """What a person is asked before keys are pressed together; empty where nobody is."""
    keys = set(chord_keys(chord))
    asked = len(keys) > 1 and any(each <= keys for each in _ASKED_CHORDS)
    return f"Press {'+'.join(chord_keys(chord))}?" if asked else ""
