"""What is a reflex in German: proof that a language is one file, with its own order of words."""

import pytest

from sayso.server.reflexes.matching import Reflexes
from sayso.server.reflexes.reflex import (
    Cancel,
    CancelTimer,
    ListTimers,
    Louder,
    No,
    Quieter,
    Reflex,
    Repeat,
    SetReminder,
    SetTimer,
    Slower,
    Stop,
    TellDate,
    TellTime,
    Undo,
    Yes,
)
from sayso.server.reflexes.time_expressions import After, At, Clock, Day, When


@pytest.fixture(scope="module")
def reflexes() -> Reflexes:
    return Reflexes.load("de")


MEANT: dict[str, Reflex] = {
    "Stopp!": Stop(),
    "Hör bitte auf.": Stop(),
    "Kannst du bitte mal aufhören?": Stop(),
    "Sei still!": Stop(),
    "Vergiss es.": Cancel(),
    "Ja.": Yes(),
    "Ja, bitte.": Yes(),
    "Ja, mach das.": Yes(),
    "Na klar.": Yes(),
    "Nein, danke.": No(),
    "Mach das bitte nicht.": No(),
    "Wie bitte?": Repeat(),
    "Kannst du das bitte noch mal sagen?": Repeat(),
    "Sprich bitte etwas langsamer.": Slower(),
    "Mach mal lauter.": Louder(),
    "Ein bisschen leiser, bitte.": Quieter(),
    "Wie spät ist es denn eigentlich?": TellTime(),
    "Kannst du mir sagen, wie spät es ist?": TellTime(),
    "Wie viel Uhr haben wir?": TellTime(),
    "Welcher Tag ist heute?": TellDate(),
    "Den Wievielten haben wir heute?": TellDate(),
    "Stell bitte einen Timer auf zehn Minuten.": SetTimer(600),
    "Kannst du mir bitte einen Timer auf 10 Minuten stellen?": SetTimer(600),
    "Zehn-Minuten-Timer.": SetTimer(600),
    "Stell einen 10-Minuten-Timer.": SetTimer(600),
    "Timer auf eine Viertelstunde.": SetTimer(900),
    "Timer auf eine halbe Stunde.": SetTimer(1800),
    "Stell einen Timer auf anderthalb Stunden.": SetTimer(5400),
    "Stell einen Timer auf 1,5 Stunden.": SetTimer(5400),
    "Stell einen Timer auf eine Stunde und fünfundzwanzig Minuten.": SetTimer(5100),
    "Stell einen Timer für die Pizza auf zwölf Minuten.": SetTimer(720, "Pizza"),
    "Stell einen Pizza-Timer auf zwölf Minuten.": SetTimer(720, "Pizza"),
    "Wie lange läuft der Timer noch?": ListTimers("timer"),
    "Welche Erinnerungen habe ich?": ListTimers("reminder"),
    "Wann klingelt der Wecker?": ListTimers("alarm"),
    "Lösche den Timer.": CancelTimer("timer", "one"),
    "Pizza-Timer löschen.": CancelTimer("timer", "one", "Pizza"),
    "Stell den Wecker aus.": CancelTimer("alarm", "one"),
    "Alle Timer löschen.": CancelTimer("timer", "all"),
    "Mach das bitte rückgängig.": Undo(),
    "Mach die letzten drei Änderungen rückgängig.": Undo(3),
    "Nimm den Auftrag wegen dem Login zurück.": Undo(about="Login"),
}


@pytest.mark.parametrize(("text", "reflex"), MEANT.items())
def test_german_is_understood(reflexes: Reflexes, text: str, reflex: Reflex) -> None:
    assert reflexes.match(text) == reflex


MORGEN = Day(ahead=1)
REMINDED: dict[str, tuple[When, str]] = {
    "Erinnere mich in zehn Minuten an die Wäsche.": (After(600), "die Wäsche"),
    "Erinnere mich an die Wäsche in zwanzig Minuten.": (After(1200), "die Wäsche"),
    "Kannst du mich in einer Stunde an die Wäsche erinnern?": (After(3600), "die Wäsche"),
    "Erinnere mich daran, in zehn Minuten die Wäsche aufzuhängen.": (
        After(600),
        "die Wäsche aufzuhängen",
    ),
    "Erinnere mich morgen um acht, Mama anzurufen.": (At(Clock(8), MORGEN), "Mama anzurufen"),
    "Erinnere mich um halb acht an den Zug.": (At(Clock(7, 30)), "den Zug"),
    "Erinnere mich um Viertel vor acht an den Zug.": (At(Clock(7, 45)), "den Zug"),
    "Erinnere mich um fünf vor halb neun an den Zug.": (At(Clock(8, 25)), "den Zug"),
    "Erinnere mich um 19:30 Uhr an den Zug.": (At(Clock(19, 30, "said")), "den Zug"),
    "Erinnere mich um sieben Uhr dreißig an den Zug.": (At(Clock(7, 30)), "den Zug"),
    "Erinnere mich heute Abend um acht an den Müll.": (
        At(Clock(8), Day(ahead=0), "evening"),
        "den Müll",
    ),
    "Erinnere mich am Freitagabend an den Müll.": (At(None, Day(weekday=4), "evening"), "den Müll"),
    "Erinnere mich am 3. März um neun an die Bank.": (
        At(Clock(9), Day(date=3, month=3)),
        "die Bank",
    ),
    "Erinnere mich morgen Mittag an das Essen.": (At(Clock(12, 0, "said"), MORGEN), "das Essen"),
}


@pytest.mark.parametrize(("text", "expected"), REMINDED.items())
def test_german_reminders_are_understood(
    reflexes: Reflexes, text: str, expected: tuple[When, str]
) -> None:
    assert reflexes.match(text) == SetReminder(*expected)


@pytest.mark.parametrize(
    "text",
    [
        "Stopp den Container.",
        "Ja, aber nimm den anderen Ordner.",
        "Nein, nimm den anderen.",
        "Kannst du das machen?",
        "Kannst du weiter machen?",
        "Ja?",
        "Mach die Heizung höher.",
        "Mach den letzten Commit rückgängig.",
        "Stell einen Timer auf zehn Minuten und mach das Licht aus.",
        "Erinnere mich daran, was du gesagt hast.",
        "Erinnere mich nächsten Freitag an den Müll.",
        "What time is it?",
    ],
)
def test_what_only_looks_like_a_reflex_is_left_to_the_language_model(
    reflexes: Reflexes, text: str
) -> None:
    assert reflexes.match(text) is None
