"""Which acts on a page a person is asked about first, and which are never done. Pure.

What a button says is a stranger's word: this is a second pair of eyes, not the wall. The wall is
which hosts can be reached, and that passwords and card numbers are nobody's to type but the
person's.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from sayso.protocol.visible import as_read

Facts = Mapping[str, Any]
"""What is known of an element: its role, name and type, and its form."""

_VERBS: Final = (
    # English
    "apply|authori[sz]e|bid|book|buy|check ?out|comment|confirm|deactivate|delete|destroy|discard|"
    "donate|empty|erase|grant|install|invite|order|pay|permanently|place (?:your |my )?order|"
    "post|publish|purchase|register|remove|rent|reply|reserve|revoke|send|share|sign|sell|submit|"
    "subscribe|transfer|tweet|unsubscribe|upload|withdraw|wipe|allow access|"
    # German
    "abonnieren|absenden|abschicken|anmelden|beitreten|bestellen|best[äa]tigen|bezahlen|buchen|"
    "einreichen|entfernen|erlauben|freigeben|kaufen|k[üu]ndigen|l[öo]schen|mieten|reservieren|"
    "senden|spenden|teilen|[üu]berweisen|unterschreiben|ver[öo]ffentlichen|verkaufen|verschicken|"
    "versenden|zahlen|zahlungspflichtig|zustimmen|"
    # French, Spanish, Italian
    "acheter|commander|confirmer|envoyer|payer|publier|r[ée]server|signer|supprimer|valider|"
    "borrar|comprar|confirmar|eliminar|enviar|firmar|pagar|publicar|reservar|"
    "acquista|cancella|compra|conferma|elimina|invia|ordina|paga|prenota|pubblica"
)
_ANYWHERE: Final = re.compile(rf"\b(?:{_VERBS})\b", re.IGNORECASE)
_FIRST: Final = re.compile(
    r"^\W*(?:yes,? |ok,? |ja,? )?(?:buy|cancel|delete|erase|pay|remove|unsubscribe|send|publish|"
    r"abbestellen|bezahlen|kaufen|k[üu]ndigen|l[öo]schen|senden|zahlen)\b",
    re.IGNORECASE,
)

NO_SECRETS: Final = (
    "Sayso types no passwords, codes or card numbers: the person does that in a browser of their"
    " own. Tell them, or go on without."
)


def never(facts: Facts) -> str:
    """Why something is never written there, in a sentence; empty if it may be."""
    return NO_SECRETS if facts.get("secret") else ""


def consequence(facts: Facts, *, pressed: bool = True) -> str:
    """Why a person is asked before this is pressed, in a sentence; empty where nobody is.
    `pressed`: the thing itself; else Enter in a field of its form."""
    form = facts.get("form") or {}
    submits = bool(facts.get("submits")) or (not pressed and bool(form))
    if submits and form.get("secrets"):
        return "It sends a password or a card number that stands in the form."
    if submits and (form.get("method") == "post" or form.get("written")):
        host = urlsplit(str(form.get("action", ""))).hostname or "the page"
        return f"It sends a form to {host}."
    names = [str(facts.get(each, "")) for each in ("name", "around")] if pressed else []
    if not pressed:
        names = [str(each) for each in form.get("submit", ())]
    word = _FIRST if facts.get("role") == "link" and pressed else _ANYWHERE
    if any(word.search(as_read(name)) for name in names):
        return "What is written on it says that it does more than lead on."
    return ""


def dialog_consequence(kind: str, message: str) -> str:
    """The same of a yes to a question that a page asks."""
    if kind in ("confirm", "beforeunload") and _ANYWHERE.search(as_read(message)):
        return "What it asks says that a yes does more than lead on."
    return ""
