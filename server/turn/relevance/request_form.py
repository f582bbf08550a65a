"""Tells by the form of a sentence whether it asks for something. Pure, in a fraction of a
millisecond.

Where nobody pressed a key or said the wake word, a sentence is somebody's request only if it looks
like one: a question, an order, a wish. What people and televisions tell each other mostly does not.
"""

import re

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LEADS = _each(
    """
    and then so also but okay ok well oh now please just actually no yes yeah yep nope thanks sorry
    right um uh hey hi hello sayso computer
    und dann also aber gut nun jetzt bitte mal eigentlich nein ja danke ach äh hallo
    """
)
"""May stand before a request, and make none."""

_QUESTIONS = _each(
    """
    what what's whats who who's whose when when's where where's why how how's which
    is are am was were do does did can could will would should shall may might has have
    isn't aren't don't doesn't didn't can't couldn't won't wouldn't shouldn't
    was wer wem wen wessen wann wo woher wohin warum wieso weshalb wie welche welcher welches
    welchen ist sind bin war waren hat haben hast kann kannst könnte könntest können wird wirst
    würdest soll
    sollte darf gibt gibt's weißt
    """
)

_ORDERS = _each(
    """
    add alarm analyze answer append arrange ask book build buy calculate call cancel change check
    choose clean clear close compare compute connect convert copy correct count create cut decrease
    define delete describe dim disable display do double download draw drop edit email empty enable
    end erase estimate explain export extract fetch fill filter find finish fix flip fold follow
    format forget generate get give go group guess help hide hold import increase insert install
    keep leave let let's list listen load lock look louder lower make mark measure merge message
    move mute name note open order organize paint paste pause pick plan play plot pour prepare press
    print push put quieter quit raise read recall recommend record redo reduce remember remind
    remove rename repeat replace reply report rerun reset resize restart restore resume retry return
    reverse revert rewrite roll rotate round run save say scan schedule scroll search select send
    set share show shorten shuffle shut silence simplify skip slow slower snooze solve sort speak
    speed spell split start stop store sum summarize summarise switch take tell test time toss
    translate try turn type undo unlock unmute update upgrade upload use volume wait wake watch
    weigh write zip
    addiere ändere antworte beende berechne beschreibe brich bring buche drucke erinnere erklär
    erkläre erstelle erzähl erzähle fahr fang finde füge geh gib hilf hol hör installiere kauf komm
    kopiere lade lass lauter leg leiser lies liste lösch lösche mach mache merke mix nenn nenne
    nimm öffne ordne pausiere prüf prüfe rechne ruf sag sage schalt schalte schick schicke schließ
    schließe schreib schreibe schau setz setze sortiere spiel spiele spring starte stell stelle such
    suche teste trag übersetze verschiebe vergleiche vergiss warte weck wecke wechsle wiederhol
    wiederhole zähl zähle zeig zeige zeichne
    """
)

_WISHES = tuple(
    tuple(wish.split())
    for wish in (
        "i want",
        "i need",
        "i'd like",
        "i would like",
        "i'd love",
        "i wonder",
        "i meant",
        "i mean",
        "how about",
        "what about",
        "one more",
        "another one",
        "the other",
        "the next",
        "the first",
        "the second",
        "the third",
        "the last",
        "a bit",
        "a little",
        "not that",
        "instead",
        "never mind",
        "in my",
        "ich will",
        "ich möchte",
        "ich brauche",
        "ich hätte",
        "ich meine",
        "ich meinte",
        "noch ein",
        "noch eine",
        "noch einen",
        "noch einmal",
        "nochmal",
        "ein bisschen",
        "ein wenig",
        "stattdessen",
        "das nächste",
        "das letzte",
        "das andere",
    )
)


def asks_for_something(text: str) -> bool:
    """Whether the sentence has the form of a question, an order or a wish."""
    words = [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]
    if not words:
        return False
    if text.rstrip().endswith("?"):
        return True
    while len(words) > 1 and words[0] in _LEADS:
        del words[0]
    if words[0] in _QUESTIONS or words[0] in _ORDERS:
        return True
    return any(tuple(words[: len(wish)]) == wish for wish in _WISHES)
