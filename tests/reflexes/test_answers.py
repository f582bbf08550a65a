"""What is said in answer, word for word."""

from datetime import UTC, datetime

import pytest

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.reflex import Kind, TellDate, TellTime
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.time_expressions import After, At, Clock, When
from sayso.server.store.changes import Renamed
from sayso.server.undo.results import Undone

NOW = datetime(2026, 3, 3, 16, 15, tzinfo=UTC)


@pytest.fixture(scope="module")
def english() -> Answers:
    return Answers.load("en")


@pytest.fixture(scope="module")
def german() -> Answers:
    return Answers.load("de")


def one(kind: Kind, due: str, what: str = "", seconds: int = 0) -> Reminder:
    moment = datetime.fromisoformat(due).replace(tzinfo=UTC)
    return Reminder("1", kind, moment.timestamp(), what, seconds)


def timer(seconds: int, name: str = "") -> Reminder:
    return Reminder("1", "timer", NOW.timestamp() + seconds, name, seconds)


@pytest.mark.parametrize(
    ("clock", "english_says", "german_says"),
    [
        ("16:15", "It's a quarter past four.", "Es ist sechzehn Uhr fünfzehn."),
        ("16:30", "It's half past four.", "Es ist sechzehn Uhr dreißig."),
        ("16:45", "It's a quarter to five.", "Es ist sechzehn Uhr fünfundvierzig."),
        ("16:17", "It's four seventeen.", "Es ist sechzehn Uhr siebzehn."),
        ("16:05", "It's four oh five.", "Es ist sechzehn Uhr fünf."),
        ("13:00", "It's one o'clock.", "Es ist dreizehn Uhr."),
        ("01:01", "It's one oh one.", "Es ist ein Uhr eins."),
        ("00:00", "It's midnight.", "Es ist Mitternacht."),
        ("12:00", "It's noon.", "Es ist zwölf Uhr."),
        ("00:05", "It's twelve oh five.", "Es ist null Uhr fünf."),
        ("12:45", "It's a quarter to one.", "Es ist zwölf Uhr fünfundvierzig."),
        ("23:45", "It's a quarter to twelve.", "Es ist dreiundzwanzig Uhr fünfundvierzig."),
    ],
)
def test_the_time_is_exact_to_the_minute(
    english: Answers, german: Answers, clock: str, english_says: str, german_says: str
) -> None:
    now = datetime.fromisoformat(f"2026-03-03 {clock}:59").replace(tzinfo=UTC)
    assert english.plain.answer(TellTime(), now) == english_says
    assert german.plain.answer(TellTime(), now) == german_says


def test_the_date_has_all_of_it(english: Answers, german: Answers) -> None:
    assert english.plain.answer(TellDate(), NOW) == "It's Tuesday, the third of March 2026."
    assert german.plain.answer(TellDate(), NOW) == "Heute ist Dienstag, der dritte März 2026."


@pytest.mark.parametrize(
    ("reminder", "when", "english_says", "german_says"),
    [
        (timer(600), None, "Timer set for ten minutes.", "Der Timer läuft zehn Minuten."),
        (timer(60), None, "Timer set for one minute.", "Der Timer läuft eine Minute."),
        (
            timer(5405, "pizza"),
            None,
            "Pizza timer set for one hour, thirty minutes and five seconds.",
            "Der Timer pizza läuft eine Stunde, dreißig Minuten und fünf Sekunden.",
        ),
        (
            one("reminder", "2026-03-03 19:30", "call Mum"),
            At(Clock(7, 30)),
            "I'll remind you today at half past seven in the evening: call Mum.",
            "Ich erinnere dich heute um neunzehn Uhr dreißig: call Mum.",
        ),
        (
            one("reminder", "2026-03-03 16:16", "call Mum"),
            After(60),
            "I'll remind you in one minute: call Mum.",
            "Ich erinnere dich in einer Minute: call Mum.",
        ),
        (
            one("reminder", "2026-03-06 16:15"),
            After(0, 3),
            "I'll remind you in three days.",
            "Ich erinnere dich in drei Tagen.",
        ),
        (
            one("alarm", "2026-03-04 07:00"),
            At(Clock(7)),
            "The alarm will ring tomorrow at seven o'clock in the morning.",
            "Der Wecker klingelt morgen um sieben Uhr.",
        ),
        (
            one("alarm", "2026-03-06 12:00"),
            At(Clock(12)),
            "The alarm will ring on Friday at noon.",
            "Der Wecker klingelt am Freitag um zwölf Uhr.",
        ),
        (
            one("alarm", "2026-04-03 09:00"),
            At(Clock(9)),
            "The alarm will ring on Friday, the third of April, at nine o'clock in the morning.",
            "Der Wecker klingelt am Freitag, dem dritten April, um neun Uhr.",
        ),
    ],
)
def test_what_was_understood_is_told_back(
    english: Answers,
    german: Answers,
    reminder: Reminder,
    when: When | None,
    english_says: str,
    german_says: str,
) -> None:
    assert english.taken(reminder, when, NOW) == english_says
    assert german.taken(reminder, when, NOW) == german_says


@pytest.mark.parametrize(
    ("reminder", "english_says", "german_says"),
    [
        (timer(0), "Your timer for one second is done.", None),
        (
            Reminder("1", "timer", NOW.timestamp() - 59, "pizza", 600),
            "Your pizza timer is done.",
            "Dein Timer pizza ist abgelaufen.",
        ),
        (
            Reminder("1", "timer", NOW.timestamp() - 60, "", 600),
            "Your timer for ten minutes was done one minute ago.",
            "Dein Timer auf zehn Minuten ist vor einer Minute abgelaufen.",
        ),
        (
            one("reminder", "2026-03-03 16:15", "call Mum"),
            "Here is your reminder: call Mum.",
            "Ich soll dich erinnern: call Mum.",
        ),
        (
            one("reminder", "2026-03-01 13:47", "call Mum"),
            "Here is a reminder that was due two days and two hours ago: call Mum.",
            "Vor zwei Tagen und zwei Stunden sollte ich dich erinnern: call Mum.",
        ),
        (
            one("alarm", "2026-03-03 16:15"),
            "It's a quarter past four. This is your alarm.",
            "Es ist sechzehn Uhr fünfzehn. Das ist dein Wecker.",
        ),
    ],
)
def test_what_is_due_is_told_with_how_late_it_is(
    english: Answers,
    german: Answers,
    reminder: Reminder,
    english_says: str,
    german_says: str | None,
) -> None:
    assert english.due(reminder, NOW) == english_says
    assert german_says is None or german.due(reminder, NOW) == german_says


def test_what_is_open_is_told_one_by_one_and_the_rest_is_counted(english: Answers) -> None:
    some = [timer(90), Reminder("2", "timer", NOW.timestamp() + 5000, "pizza", 6000)]
    assert english.open("timer", some, NOW) == (
        "The timer for one minute and thirty seconds has one minute and thirty seconds left."
        " The pizza timer has one hour and twenty-three minutes left."
    )
    many = [timer(60)] * 6
    assert english.open("timer", many, NOW).endswith("left. And one more.")
    assert english.open("timer", many * 3, NOW).endswith("left. And thirteen more.")
    assert english.open("timer", [], NOW) == "No timer is running."


def test_it_is_asked_which_one_is_meant(english: Answers, german: Answers) -> None:
    some = [timer(60), timer(600, "pizza"), timer(700, "tea")]
    assert english.which("timer", some, NOW) == (
        "There are three timers: the timer for one minute, the pizza timer and the tea timer."
        " Which one?"
    )
    assert english.unmatched("timer", some[1:2], NOW) == (
        "There is no such timer, but there is the pizza timer."
    )
    assert german.which("timer", some, NOW).startswith(
        "Es gibt drei Timer: den Timer auf eine Minute, den Timer pizza und den Timer tea."
    )


def test_refusals_say_what_to_do(english: Answers, german: Answers) -> None:
    assert english.too_many(100) == (
        "I already keep one hundred timers and reminders; cancel some first."
    )
    for answers in (english, german):
        assert "year" in answers.too_far() or "Jahr" in answers.too_far()
        assert answers.passed()
        assert answers.not_kept()


def test_braces_and_markup_in_what_was_said_stay_what_they_are(english: Answers) -> None:
    reminder = one("reminder", "2026-03-03 16:15", "fix {name} and {0}")
    assert english.due(reminder, NOW) == "Here is your reminder: fix {name} and {0}."
    assert "{name}" in english.which("reminder", [reminder, reminder], NOW)


@pytest.mark.parametrize(
    ("undone", "english_says", "german_says"),
    [
        (
            Undone("done", renamed=(Renamed("new.txt", "old.txt"),)),
            "I renamed one file: new.txt is old.txt again.",
            "Umbenannt habe ich eine Datei: new.txt heißt wieder old.txt.",
        ),
        (
            Undone("done", ("app.py",), commits=("Say two",), requests=("Say two!", "commit")),
            "You had asked: “Say two” and “commit”. I put back one file: app.py. Taken back, too,",
            "Gesagt hattest du: „Say two“ und „commit“. Wiederhergestellt habe ich eine Datei:",
        ),
        (
            Undone("done", ("a/.git/HEAD", "a/.git/refs/heads/main", "app.py")),
            "I put back two files: a/.git and app.py.",
            "Wiederhergestellt habe ich zwei Dateien: a/.git und app.py.",
        ),
        (
            Undone("unknown", requests=("Fix the login",)),
            "I changed no files for a request with these words. You had asked: “Fix the login”.",
            "Für einen Auftrag mit diesen Worten habe ich keine Dateien geändert. Gesagt",
        ),
    ],
)
def test_what_was_taken_back_is_told_as_what_it_was(
    english: Answers, german: Answers, undone: Undone, english_says: str, german_says: str
) -> None:
    assert english.undoing.undone(undone).startswith(english_says)
    assert german.undoing.undone(undone).startswith(german_says)
