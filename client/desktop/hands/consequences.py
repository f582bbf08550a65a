"""What does more than lead on: it is asked about before it is pressed, each time.

A second pair of eyes and no wall: a window can lie about what a button does.
"""

import re
from typing import Final

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

_NEVER_CHORDS: Final = frozenset(
    ("alt+f1", "alt+f2", "alt+tab", "alt+escape", "alt+space", "ctrl+escape", "ctrl+alt+t")
)
_ASKED_CHORDS: Final = frozenset(
    ("alt+f4", "ctrl+q", "ctrl+w", "ctrl+enter", "ctrl+return", "shift+delete", "ctrl+shift+delete")
)


def consequence(role: str, name: str) -> str:
    """What a person is asked before this is pressed; empty where nobody is."""
    if role in _PRESSED and _NAME.search(name.replace("_", "")):  # which marks a key for it
        return f"Press {name!r}?"
    return ""


def chord_hindrance(chord: str) -> str:
    """Why keys are never pressed together, in a sentence; empty if they may be."""
    keys = set(chord.split("+"))
    if keys & {"super", "win", "windows", "meta", "cmd", "command"}:
        return "That key belongs to the desktop, not to an application."
    if chord in _NEVER_CHORDS or {"ctrl", "alt"} <= keys:
        return "These keys belong to the desktop, not to an application."
    return ""


def chord_consequence(chord: str) -> str:
    """What a person is asked before keys are pressed together; empty where nobody is."""
    return f"Press {chord}?" if chord in _ASKED_CHORDS else ""
