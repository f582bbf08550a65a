"""The short phrases that the turn machine says by itself. They are not part of an answer.

Where a language is missing, they are said in English.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Literal

SENTENCE_BREAK = "\n\n"
"""Ends a sentence for synthesis, so that what was said before a run is heard before it."""

Aside = Literal[
    "may_i",
    "ask_again",
    "too_soon",
    "not_whole",
    "not_from_here",
    "on_a_screen",
    "not_read_out",
    "settled",
    "not_meant",
    "stopped",
    "nothing_to_stop",
    "only_in_background",
    "code_asks",
    "steered",
    "stopping_after",
    "not_taken_up",
    "also_ended",
    "thinking",
    "acting",
]
"""`may_i`: may this code run? `ask_again`: a yes came before that was heard out. `too_soon`: it
came before anybody can have read the question. `not_whole`: it came from where not all of the code
is shown. `not_from_here`: that device may not say it. `on_a_screen`: more reach needs a tap.
`not_read_out`: a yes came where nothing is shown, before the question was read to its end.
`settled`: it was answered elsewhere, or its time was over.
`not_meant`: shown, and never said: without the wake word, words asked for nothing.
`stopped`, `nothing_to_stop`, `only_in_background`: words that stop have been heard. `code_asks`:
what follows is a question of code that runs. `steered`: what was said is passed on to the work.
`stopping_after`: it stops when what runs now has ended. `not_taken_up`: it has stopped, and this
(`{text}`) was passed on to nobody. `also_ended`: what has ended with it, such
as what it had left in the background (`{text}`). The others fill a silence while work goes on."""

PHRASES: Mapping[str, Mapping[Aside, tuple[str, ...]]] = {
    "en": {
        "may_i": ("May I run this?",),
        "ask_again": ("I was still speaking. May I run it, yes or no?",),
        "too_soon": ("That was quicker than the question. May I run it, yes or no?",),
        "not_whole": ("This device does not show all of it. Please answer where you see it.",),
        "not_from_here": ("This device may not decide that. Please answer on another one.",),
        "on_a_screen": ("I would need more access for that. Please answer on a screen.",),
        "not_read_out": ("You did not hear all of it; here it is again.",),
        "settled": ("That was settled already.",),
        "not_meant": (
            "That did not sound like a request. Say the wake word first, or press the key.",
        ),
        "stopped": ("Stopped.",),
        "nothing_to_stop": ("There is nothing to stop.",),
        "only_in_background": (
            "Only work in the background goes on. Say “stop the jobs” to end it.",
        ),
        "code_asks": ("The code asks:",),
        "steered": ("Got it.", "Will do.", "All right."),
        "stopping_after": ("After this, then.",),
        "not_taken_up": ("I had not got to this: “{text}”",),
        "also_ended": ("Ended with it: “{text}”",),
        "thinking": ("One moment.", "Let me think.", "Let me see.", "Just a second."),
        "acting": ("I'm on it.", "Working on it.", "It's running.", "This takes a moment."),
    },
    "de": {
        "may_i": ("Darf ich das ausführen?",),
        "ask_again": ("Ich war noch nicht fertig. Darf ich es ausführen, ja oder nein?",),
        "too_soon": ("Das war schneller als die Frage. Darf ich es ausführen, ja oder nein?",),
        "not_whole": (
            "Dieses Gerät zeigt nicht alles davon. Antworte bitte dort, wo du es siehst.",
        ),
        "not_from_here": (
            "Dieses Gerät darf das nicht entscheiden. Antworte bitte auf einem anderen.",
        ),
        "on_a_screen": ("Dafür brauche ich mehr Zugriff. Bitte antworte auf einem Bildschirm.",),
        "not_read_out": ("Du hast nicht alles gehört; hier noch einmal.",),
        "settled": ("Das war schon entschieden.",),
        "not_meant": (
            "Das klang nicht nach einer Bitte. Sag zuerst das Weckwort, oder drück die Taste.",
        ),
        "stopped": ("Gestoppt.",),
        "nothing_to_stop": ("Es gibt nichts zu stoppen.",),
        "only_in_background": (
            "Nur im Hintergrund läuft noch etwas. Sag „beende alle Jobs“, wenn es aufhören soll.",
        ),
        "code_asks": ("Der Code fragt:",),
        "steered": ("Mach ich.", "Alles klar.", "Ist notiert."),
        "stopping_after": ("Danach höre ich auf.",),
        "not_taken_up": ("Dazu kam ich nicht mehr: „{text}“",),
        "also_ended": ("Damit beendet: „{text}“",),
        "thinking": ("Einen Moment.", "Lass mich überlegen.", "Mal sehen.", "Kleinen Augenblick."),
        "acting": ("Ich bin dabei.", "Ich arbeite daran.", "Es läuft.", "Das dauert kurz."),
    },
    "es": {
        "may_i": ("¿Puedo ejecutar esto?",),
        "ask_again": ("Aún estaba hablando. ¿Puedo ejecutarlo, sí o no?",),
        "too_soon": ("Eso llegó antes que la pregunta. ¿Puedo ejecutarlo, sí o no?",),
        "not_whole": ("Este dispositivo no lo muestra entero. Responde donde lo veas, por favor.",),
        "not_from_here": ("Este dispositivo no puede decidirlo. Responde en otro, por favor.",),
        "on_a_screen": ("Para eso necesito más acceso. Responde en una pantalla, por favor.",),
        "not_read_out": ("No lo oíste entero; aquí va otra vez.",),
        "settled": ("Eso ya estaba decidido.",),
        "not_meant": (
            "Eso no sonó a una petición. Di antes la palabra de activación, o pulsa la tecla.",
        ),
        "stopped": ("Parado.",),
        "nothing_to_stop": ("No hay nada que parar.",),
        "only_in_background": (
            "Solo queda trabajo en segundo plano; /jobs lo muestra y lo detiene.",
        ),
        "code_asks": ("El código pregunta:",),
        "steered": ("De acuerdo.", "Tomo nota.", "Muy bien."),
        "stopping_after": ("Después de esto paro.",),
        "not_taken_up": ("No llegué a esto: «{text}»",),
        "also_ended": ("Con ello terminó: «{text}»",),
        "thinking": ("Un momento.", "Déjame pensar.", "A ver."),
        "acting": ("Estoy en ello.", "Está en marcha.", "Tardará un momento."),
    },
    "fr": {
        "may_i": ("Je peux exécuter ceci ?",),
        "ask_again": ("Je parlais encore. Je peux l'exécuter, oui ou non ?",),
        "too_soon": ("C'était plus rapide que la question. Je peux l'exécuter, oui ou non ?",),
        "not_whole": (
            "Cet appareil ne le montre pas en entier. Réponds là où tu le vois, s'il te plaît.",
        ),
        "not_from_here": (
            "Cet appareil ne peut pas en décider. Réponds sur un autre, s'il te plaît.",
        ),
        "on_a_screen": ("Il me faut plus d'accès pour ça. Réponds sur un écran, s'il te plaît.",),
        "not_read_out": ("Tu n'as pas tout entendu ; je recommence.",),
        "settled": ("C'était déjà décidé.",),
        "not_meant": (
            "Cela n'avait pas l'air d'une demande. Dis d'abord le mot d'éveil, ou appuie.",
        ),
        "stopped": ("Arrêté.",),
        "nothing_to_stop": ("Il n'y a rien à arrêter.",),
        "only_in_background": (
            "Il ne reste que du travail à l'arrière-plan ; /jobs le montre et l'arrête.",
        ),
        "code_asks": ("Le code demande :",),
        "steered": ("Bien noté.", "C'est noté.", "Très bien."),
        "stopping_after": ("Je m'arrête après ceci.",),
        "not_taken_up": ("Je n'en étais pas arrivé là : « {text} »",),
        "also_ended": ("Arrêté avec cela : « {text} »",),
        "thinking": ("Un instant.", "Laisse-moi réfléchir.", "Voyons voir."),
        "acting": ("Je m'en occupe.", "C'est en cours.", "Ça prend un instant."),
    },
    "it": {
        "may_i": ("Posso eseguirlo?",),
        "ask_again": ("Stavo ancora parlando. Posso eseguirlo, sì o no?",),
        "too_soon": ("È arrivato prima della domanda. Posso eseguirlo, sì o no?",),
        "not_whole": (
            "Questo dispositivo non lo mostra tutto. Rispondi dove lo vedi, per favore.",
        ),
        "not_from_here": (
            "Questo dispositivo non può deciderlo. Rispondi su un altro, per favore.",
        ),
        "on_a_screen": ("Per questo mi serve più accesso. Rispondi su uno schermo, per favore.",),
        "not_read_out": ("Non l'hai sentito tutto; lo ripeto.",),
        "settled": ("Era già stato deciso.",),
        "not_meant": (
            "Non sembrava una richiesta. Di' prima la parola di attivazione, o premi il tasto.",
        ),
        "stopped": ("Fermato.",),
        "nothing_to_stop": ("Non c'è niente da fermare.",),
        "only_in_background": ("Resta solo lavoro in secondo piano; /jobs lo mostra e lo ferma.",),
        "code_asks": ("Il codice chiede:",),
        "steered": ("Va bene.", "Ho capito.", "D'accordo."),
        "stopping_after": ("Dopo questo mi fermo.",),
        "not_taken_up": ("Non ci ero ancora arrivato: «{text}»",),
        "also_ended": ("Terminato insieme: «{text}»",),
        "thinking": ("Un momento.", "Fammi pensare.", "Vediamo."),
        "acting": ("Ci sto lavorando.", "È in corso.", "Ci vuole un momento."),
    },
    "nl": {
        "may_i": ("Mag ik dit uitvoeren?",),
        "ask_again": ("Ik was nog aan het praten. Mag ik het uitvoeren, ja of nee?",),
        "too_soon": ("Dat was sneller dan de vraag. Mag ik het uitvoeren, ja of nee?",),
        "not_whole": ("Dit apparaat toont niet alles. Antwoord alsjeblieft waar je het ziet.",),
        "not_from_here": (
            "Dit apparaat mag dat niet beslissen. Antwoord op een ander, alsjeblieft.",
        ),
        "on_a_screen": ("Daarvoor heb ik meer toegang nodig. Antwoord alsjeblieft op een scherm.",),
        "not_read_out": ("Je hebt niet alles gehoord; hier nog een keer.",),
        "settled": ("Dat was al beslist.",),
        "not_meant": (
            "Dat klonk niet als een verzoek. Zeg eerst het wekwoord, of druk op de toets.",
        ),
        "stopped": ("Gestopt.",),
        "nothing_to_stop": ("Er is niets te stoppen.",),
        "only_in_background": (
            "Er loopt alleen nog werk op de achtergrond; /jobs toont en stopt het.",
        ),
        "code_asks": ("De code vraagt:",),
        "steered": ("Komt goed.", "Doe ik.", "Is genoteerd."),
        "stopping_after": ("Hierna stop ik.",),
        "not_taken_up": ("Hier was ik nog niet aan toe: “{text}”",),
        "also_ended": ("Daarmee beëindigd: “{text}”",),
        "thinking": ("Een moment.", "Even denken.", "Eens kijken."),
        "acting": ("Ik ben ermee bezig.", "Het loopt.", "Dit duurt even."),
    },
    "pt": {
        "may_i": ("Posso executar isto?",),
        "ask_again": ("Ainda estava a falar. Posso executá-lo, sim ou não?",),
        "too_soon": ("Isso foi mais rápido do que a pergunta. Posso executá-lo, sim ou não?",),
        "not_whole": ("Este dispositivo não mostra tudo. Responde onde o vês, por favor.",),
        "not_from_here": ("Este dispositivo não pode decidir isso. Responde noutro, por favor.",),
        "on_a_screen": ("Para isso preciso de mais acesso. Responde num ecrã, por favor.",),
        "not_read_out": ("Não ouviste tudo; aqui vai outra vez.",),
        "settled": ("Isso já estava decidido.",),
        "not_meant": (
            "Isso não soou a um pedido. Diz primeiro a palavra de ativação, ou carrega na tecla.",
        ),
        "stopped": ("Parado.",),
        "nothing_to_stop": ("Não há nada a parar.",),
        "only_in_background": ("Só resta trabalho em segundo plano; /jobs mostra-o e para-o.",),
        "code_asks": ("O código pergunta:",),
        "steered": ("Está bem.", "Tomei nota.", "Muito bem."),
        "stopping_after": ("Depois disto paro.",),
        "not_taken_up": ("Não cheguei a isto: «{text}»",),
        "also_ended": ("Com isso terminou: «{text}»",),
        "thinking": ("Um momento.", "Deixa-me pensar.", "Vamos ver."),
        "acting": ("Estou a tratar disso.", "Está em curso.", "Demora um momento."),
    },
}
"""By language. At least three of those that may be said often, so that they don't grate."""


def words(aside: Aside, language: str, number: int = 0) -> str:
    """The words for it. `number` counts up, so that they are not twice the same."""
    own = PHRASES.get(language.partition("-")[0].lower(), PHRASES["en"])[aside]
    return own[number % len(own)]


def _all(*kinds: Aside) -> frozenset[str]:
    phrases = (PHRASES[language][kind] for language in PHRASES for kind in kinds)
    return frozenset(chain.from_iterable(phrases))


SHORTEST_PART = 8
"""Characters: a shorter piece of a question may as well be one of an answer."""

QUESTIONS = _all(
    "may_i", "ask_again", "too_soon", "not_whole", "not_from_here", "on_a_screen", "not_read_out"
)
FILLERS = _all("thinking", "acting")


def is_filler(chunk: str) -> bool:
    """Whether this only fills a silence."""
    return chunk.strip() in FILLERS


def is_aside(chunk: str) -> bool:
    """Whether the turn said this by itself, however synthesis has cut a question."""
    chunk = chunk.strip()
    is_part = len(chunk) >= SHORTEST_PART and any(chunk in question for question in QUESTIONS)
    return is_filler(chunk) or is_part


def stop_words(language: str, *, had: bool, else_goes_on: bool) -> str:
    """What is said to a stop. `had`: it stopped something. `else_goes_on`: work does that no
    request waits for."""
    if had:
        return words("stopped", language)
    return words("only_in_background" if else_goes_on else "nothing_to_stop", language)
