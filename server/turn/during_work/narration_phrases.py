"""What the narrator says. Where a language is missing, it is said in English."""

import re
from collections.abc import Mapping
from typing import Literal

Narration = Literal["ended", "failed", "failed_late", "still", "still_or_stop", "step"]

_MINUTE = 60

_SECONDS_UP_TO = 100
"""Nearly two minutes: until then it is told in seconds, so that nobody says "one minutes"."""

NARRATIONS: Mapping[str, Mapping[Narration, str]] = {
    "en": {
        "ended": "That step took {length}.",
        "failed": "That did not work; I look into it.",
        "failed_late": "That did not work, after {length}; I look into it.",
        "still": "Still at it, for {length} now.",
        "still_or_stop": "Still at it, for {length} now. Say stop if I should end it.",
        "step": "Now step {step} of {count}.",
    },
    "de": {
        "ended": "Dieser Schritt hat {length} gedauert.",
        "failed": "Das hat nicht geklappt; ich sehe nach.",
        "failed_late": "Das hat nach {length} nicht geklappt; ich sehe nach.",
        "still": "Ich bin noch dran, seit {length}.",
        "still_or_stop": "Ich bin noch dran, seit {length}. Sag Stopp, wenn ich aufhören soll.",
        "step": "Jetzt Schritt {step} von {count}.",
    },
    "es": {
        "ended": "Ese paso tardó {length}.",
        "failed": "Eso no funcionó; lo estoy mirando.",
        "failed_late": "Eso no funcionó, tras {length}; lo estoy mirando.",
        "still": "Sigo en ello, desde hace {length}.",
        "still_or_stop": "Sigo en ello, desde hace {length}. Di para si debo terminarlo.",
        "step": "Ahora el paso {step} de {count}.",
    },
    "fr": {
        "ended": "Cette étape a pris {length}.",
        "failed": "Cela n'a pas marché ; je regarde.",
        "failed_late": "Cela n'a pas marché, après {length} ; je regarde.",
        "still": "J'y suis encore, depuis {length}.",
        "still_or_stop": "J'y suis encore, depuis {length}. Dis stop si je dois arrêter.",
        "step": "Maintenant l'étape {step} sur {count}.",
    },
    "it": {
        "ended": "Quel passo ha richiesto {length}.",
        "failed": "Non ha funzionato; sto guardando.",
        "failed_late": "Non ha funzionato, dopo {length}; sto guardando.",
        "still": "Ci sto ancora lavorando, da {length}.",
        "still_or_stop": "Ci sto ancora lavorando, da {length}. Di' stop se devo smettere.",
        "step": "Ora il passo {step} di {count}.",
    },
    "nl": {
        "ended": "Die stap duurde {length}.",
        "failed": "Dat lukte niet; ik kijk ernaar.",
        "failed_late": "Dat lukte niet, na {length}; ik kijk ernaar.",
        "still": "Ik ben er nog mee bezig, al {length}.",
        "still_or_stop": "Ik ben er nog mee bezig, al {length}. Zeg stop als ik moet ophouden.",
        "step": "Nu stap {step} van {count}.",
    },
    "pt": {
        "ended": "Esse passo demorou {length}.",
        "failed": "Isso não funcionou; estou a ver.",
        "failed_late": "Isso não funcionou, após {length}; estou a ver.",
        "still": "Continuo nisso, há {length}.",
        "still_or_stop": "Continuo nisso, há {length}. Diz para se devo terminar.",
        "step": "Agora o passo {step} de {count}.",
    },
}

_UNITS: Mapping[str, tuple[str, str]] = {
    "en": ("seconds", "minutes"),
    "de": ("Sekunden", "Minuten"),
    "es": ("segundos", "minutos"),
    "fr": ("secondes", "minutes"),
    "it": ("secondi", "minuti"),
    "nl": ("seconden", "minuten"),
    "pt": ("segundos", "minutos"),
}
"""So many seconds, so many minutes."""

_FEWER = re.compile(
    r"(please )?((fewer|less|no more|no) updates|(don't|do not) (tell|update) me so (much|often)"
    r"|weniger (updates|meldungen|zwischenmeldungen)|melde dich seltener)( please| bitte)?"
)
_USUAL = re.compile(
    r"(please )?(more updates|keep me (posted|updated)|tell me more"
    r"|mehr (updates|meldungen|zwischenmeldungen)|halt mich auf dem laufenden)( please| bitte)?"
)


def narrated(
    kind: Narration, language: str, seconds: int = 0, step: tuple[int, int] = (0, 0)
) -> str:
    """The sentence for it. `step`: which of how many."""
    code = language.partition("-")[0].lower()
    code = code if code in NARRATIONS else "en"
    short, long = _UNITS[code]
    told = f"{round(seconds / _MINUTE)} {long}"
    if seconds < _SECONDS_UP_TO:
        told = f"{seconds} {short}"
    number, count = step
    return NARRATIONS[code][kind].format(length=told, step=number, count=count)


def update_wish(text: str) -> Literal["usual", "fewer"] | None:
    """Whether these words wish for fewer updates, or for more again."""
    words = " ".join(re.findall(r"[^\W\d_']+(?:'[^\W\d_]+)?", text.lower().replace("\u2019", "'")))
    if _FEWER.fullmatch(words):
        return "fewer"
    return "usual" if _USUAL.fullmatch(words) else None
