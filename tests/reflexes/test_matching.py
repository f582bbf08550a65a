"""What is a reflex in English, and what only looks like one."""

from dataclasses import replace

import pytest

from sayso.server.reflexes.matching import MAX_CHARS, Reflexes
from sayso.server.reflexes.reflex import (
    Cancel,
    CancelTimer,
    Faster,
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
    return Reflexes.load("en")


PLAIN: dict[Reflex, tuple[str, ...]] = {
    Stop(): (
        "stop",
        "Stop.",
        "STOP!",
        "Stop it.",
        "Stop, please.",
        "Stop. Stop. Stop.",
        "Okay, stop.",
        "Hey, could you please stop?",
        "Um, stop talking.",
        "Be quiet.",
        "Shut up!",
        "That's enough.",
        "That\u2019s enough, thanks.",
        "Enough already.",
        "Would you be quiet, please?",
        "No, stop!",
    ),
    Cancel(): (
        "cancel",
        "Cancel that.",
        "Never mind.",
        "Nevermind",
        "Oh, forget it.",
        "No, never mind.",
        "Please cancel my request.",
    ),
    Yes(): (
        "yes",
        "Yes!",
        "Yeah.",
        "yep",
        "Sure.",
        "Okay.",
        "OK",
        "Yes, please.",
        "Yes, go ahead.",
        "Go ahead.",
        "Do it.",
        "okay do it",
        "Um, yes.",
        "Yes, thank you very much.",
        "Of course.",
        "That's fine with me.",
        "Yes yes.",
    ),
    No(): (
        "no",
        "No.",
        "Nope!",
        "No, thanks.",
        "No thank you.",
        "Uh, no.",
        "No, don't.",
        "Don't do it.",
        "Please don't.",
        "No way.",
        "Absolutely not.",
        "Not now.",
    ),
    Repeat(): (
        "Repeat that.",
        "Could you say that again?",
        "Say that again, please.",
        "What did you say?",
        "Sorry, what was that?",
        "Pardon?",
        "Once more.",
        "Can you repeat that please?",
        "I didn't catch that.",
    ),
    Slower(): (
        "Slower.",
        "Speak slower, please.",
        "Could you talk a bit more slowly?",
        "Slow down.",
    ),
    Faster(): ("Faster!", "Speak a little faster.", "Speed up a bit, please."),
    Louder(): (
        "Louder.",
        "Speak up, please.",
        "Turn it up.",
        "Turn up the volume.",
        "turn the volume up a bit",
        "Volume up.",
        "I can't hear you.",
    ),
    Quieter(): (
        "Quieter.",
        "A bit quieter, please.",
        "Turn it down.",
        "Turn the volume down.",
        "Not so loud.",
        "Lower your voice.",
    ),
    TellTime(): (
        "What time is it?",
        "What's the time?",
        "What is the time, please?",
        "Hey Sayso, what time is it now?",
        "Could you tell me the time?",
        "Tell me what time it is.",
        "Do you know what time it is?",
        "Excuse me, do you have the time?",
        "Have you got the time?",
        "So, um, what time is it?",
    ),
    TellDate(): (
        "What's the date?",
        "What day is it?",
        "What day is it today?",
        "Which day is today?",
        "What's today's date?",
        "What is the date today?",
        "Tell me today's date, please.",
        "What year is it?",
    ),
    Undo(): (
        "undo",
        "Un do that.",
        "Undo that.",
        "Please undo that.",
        "Take that back.",
        "Undo the last change.",
    ),
    Undo(3): (
        "Undo the last three.",
        "Undo the last 3 things, please.",
        "Could you undo your last three changes?",
        "Take back the last three steps.",
    ),
    Undo(about="login page"): (
        "Undo the request about the login page.",
        "Please undo what I asked about the login page.",
        "Undo what you did about the login page.",
        "Revert the change about login page.",
    ),
}


@pytest.mark.parametrize(
    ("text", "reflex"), [(text, reflex) for reflex, texts in PLAIN.items() for text in texts]
)
def test_what_needs_nothing_else_is_understood(
    reflexes: Reflexes, text: str, reflex: Reflex
) -> None:
    assert reflexes.match(text) == reflex


TIMERS = {
    "Set a timer for 10 minutes.": SetTimer(600),
    "Set a timer for ten minutes.": SetTimer(600),
    "set timer 10 minutes": SetTimer(600),
    "Set a ten-minute timer.": SetTimer(600),
    "Set a 10-minute timer.": SetTimer(600),
    "Set a 10 minute timer, please.": SetTimer(600),
    "Set it 10 minute timer.": SetTimer(600),
    "Set time or 10 minutes.": SetTimer(600),
    "10 minute timer": SetTimer(600),
    "Timer, 5 min.": SetTimer(300),
    "Hey, um, could you please start a timer for five minutes? Thanks!": SetTimer(300),
    "I want you to set a timer for one minute.": SetTimer(60),
    "Set a timer for a minute.": SetTimer(60),
    "Set a timer for twenty-five minutes.": SetTimer(1500),
    "Set a timer for twenty five minutes.": SetTimer(1500),
    "Set a timer for half an hour.": SetTimer(1800),
    "Set a half hour timer.": SetTimer(1800),
    "Set a timer for an hour.": SetTimer(3600),
    "Set a timer for an hour and a half.": SetTimer(5400),
    "Set a timer for one and a half hours.": SetTimer(5400),
    "Set a timer for 1.5 hours.": SetTimer(5400),
    "Set a timer for two and a half minutes.": SetTimer(150),
    "Set a timer for an hour and twenty minutes.": SetTimer(4800),
    "Set a timer for 1 hour 20 minutes and 5 seconds.": SetTimer(4805),
    "Set a timer for a quarter of an hour.": SetTimer(900),
    "Set a timer for three quarters of an hour.": SetTimer(2700),
    "Set a timer for 90 seconds.": SetTimer(90),
    "Set a timer for 120 minutes.": SetTimer(7200),
    "Set a timer for a couple of minutes.": SetTimer(120),
    "Start a countdown of thirty seconds.": SetTimer(30),
    "Set a pizza timer for 12 minutes.": SetTimer(720, "pizza"),
    "Set a 12 minute pizza timer.": SetTimer(720, "pizza"),
    "Set a timer for the pasta for 8 minutes.": SetTimer(480, "pasta"),
    "Set a timer for 45 minutes called Laundry.": SetTimer(2700, "Laundry"),
    "Set a timer called green tea for three minutes, please.": SetTimer(180, "green tea"),
}


@pytest.mark.parametrize(("text", "reflex"), TIMERS.items())
def test_timers_take_lengths_however_written(reflexes: Reflexes, text: str, reflex: Reflex) -> None:
    assert reflexes.match(text) == reflex


def at(
    hour: int, minute: int = 0, half: str = "open", day: Day | None = None, part: str | None = None
) -> At:
    return At(Clock(hour, minute, half), day, part)  # type: ignore[arg-type]


TOMORROW = Day(ahead=1)
FRIDAY = Day(weekday=4)

WHENS: dict[str, When] = {
    "in 20 minutes": After(1200),
    "in twenty minutes": After(1200),
    "in half an hour": After(1800),
    "in an hour and a half": After(5400),
    "ten minutes from now": After(600),
    "in three days": After(0, 3),
    "in a week": After(0, 7),
    "at seven": at(7),
    "at 7": at(7),
    "at seven o'clock": at(7),
    "at half past seven": at(7, 30),
    "at half seven": at(7, 30),
    "at a quarter past seven": at(7, 15),
    "at quarter to one": at(0, 45),
    "at ten to eight": at(7, 50),
    "at five past eight": at(8, 5),
    "at seven thirty": at(7, 30),
    "at seven oh five": at(7, 5),
    "at 7:30": at(7, 30),
    "at 7.30": at(7, 30),
    "at 07:30": at(7, 30, "said"),
    "at 19:30": at(19, 30, "said"),
    "at 7:30 pm": at(7, 30, part="pm"),
    "at 7:30 p.m.": at(7, 30, part="pm"),
    "at 7pm": at(7, part="pm"),
    "at 07:30 PM": at(7, 30, part="pm"),
    "at 7:30pm": at(7, 30, part="pm"),
    "at 7.30pm": at(7, 30, part="pm"),
    "at 730": at(7, 30),
    "at 0730": at(7, 30, "said"),
    "at 1930": at(19, 30, "said"),
    "at half-pass seven": at(7, 30),
    "at seven in the evening": at(7, part="evening"),
    "at noon": at(12, half="said"),
    "at midnight": at(0, half="said"),
    "tomorrow at noon": at(12, half="said", day=TOMORROW),
    "tomorrow at seven": at(7, day=TOMORROW),
    "at seven tomorrow": at(7, day=TOMORROW),
    "tomorrow morning at seven": at(7, day=TOMORROW, part="morning"),
    "tomorrow": At(day=TOMORROW),
    "tomorrow evening": At(day=TOMORROW, part="evening"),
    "tonight": At(day=Day(ahead=0), part="night"),
    "tonight at nine": at(9, day=Day(ahead=0), part="night"),
    "this afternoon": At(day=Day(ahead=0), part="afternoon"),
    "the day after tomorrow at ten": at(10, day=Day(ahead=2)),
    "on Friday at nine": at(9, day=FRIDAY),
    "Friday at 9 a.m.": at(9, day=FRIDAY, part="am"),
    "on Friday": At(day=FRIDAY),
    "on the third of March at nine": at(9, day=Day(date=3, month=3)),
    "on March 3rd at nine": at(9, day=Day(date=3, month=3)),
    "on the 21st": At(day=Day(date=21)),
}


@pytest.mark.parametrize(("said", "when"), WHENS.items())
def test_times_are_understood_before_and_after_what_to_remind_of(
    reflexes: Reflexes, said: str, when: When
) -> None:
    reminder = SetReminder(when, "call Mum at work")
    assert reflexes.match(f"Remind me {said} to call Mum at work.") == reminder
    assert reflexes.match(f"Please remind me to call Mum at work {said}.") == reminder


REMINDERS = {
    "Remind me in ten minutes to call Mum, please.": (After(600), "call Mum"),
    "Remind me in ten minutes to call Mum, thank you very much.": (After(600), "call Mum"),
    "Hey, remind me in ten minutes to say thank you.": (After(600), "say thank you"),
    "Remind me about the meeting at three.": (at(3), "the meeting"),
    "Remind me that the train leaves in an hour.": (After(3600), "the train leaves"),
    "In an hour remind me to water the plants.": (After(3600), "water the plants"),
    "Tomorrow at nine, remind me to write to Dr. Smith.": (
        at(9, day=TOMORROW),
        "write to Dr. Smith",
    ),
    "Set a reminder for tomorrow at nine to buy milk.": (at(9, day=TOMORROW), "buy milk"),
    "Add a reminder to buy milk tomorrow at nine.": (at(9, day=TOMORROW), "buy milk"),
    "Don't let me forget to call Anna at six.": (at(6), "call Anna"),
    "Remind me to book a table for 7 at 5.": (at(5), "book a table for 7"),
    "Remind me to take the often used phone in ten minutes.": (
        After(600),
        "take the often used phone",
    ),
    "Remind me in ten minutes.": (After(600), ""),
}


@pytest.mark.parametrize(("text", "expected"), REMINDERS.items())
def test_what_to_remind_of_is_kept_as_it_was_said(
    reflexes: Reflexes, text: str, expected: tuple[When, str]
) -> None:
    assert reflexes.match(text) == SetReminder(*expected)


ALARMS: dict[str, When] = {
    "Wake me up at seven.": replace(at(7), wakes=True),
    "Wake me at 6:45 tomorrow morning.": at(6, 45, day=TOMORROW, part="morning"),
    "Set an alarm for 7 am.": at(7, part="am"),
    "Set an alarm for tomorrow at half past six.": at(6, 30, day=TOMORROW, part="am"),
    "Set my alarm for Friday at 8.": at(8, day=FRIDAY, part="am"),
    "Wake me tomorrow at twelve.": at(12, day=TOMORROW),
    "Could you wake me in half an hour?": After(1800),
}


@pytest.mark.parametrize(("text", "when"), ALARMS.items())
def test_alarms_are_reminders_of_nothing(reflexes: Reflexes, text: str, when: When) -> None:
    assert reflexes.match(text) == SetReminder(when, "", "alarm")


OPEN_ONES: dict[str, Reflex] = {
    "How much time is left?": ListTimers("timer"),
    "How much time is left on the timer?": ListTimers("timer"),
    "How long is left on the pizza timer?": ListTimers("timer", "pizza"),
    "List my timers.": ListTimers("timer"),
    "What timers do I have?": ListTimers("timer"),
    "Are there any timers running?": ListTimers("timer"),
    "What are my reminders?": ListTimers("reminder"),
    "Show me my reminders, please.": ListTimers("reminder"),
    "What alarms are set?": ListTimers("alarm"),
    "When is my alarm set for?": ListTimers("alarm"),
    "Cancel the timer.": CancelTimer("timer", "one"),
    "Stop the timer.": CancelTimer("timer", "one"),
    "Please turn off the timer.": CancelTimer("timer", "one"),
    "Cancel the pizza timer.": CancelTimer("timer", "one", "pizza"),
    "Cancel the timer for the pasta.": CancelTimer("timer", "one", "pasta"),
    "Cancel the ten minute timer.": CancelTimer("timer", "one", seconds=600),
    "Cancel all timers.": CancelTimer("timer", "all"),
    "Delete all of my timers.": CancelTimer("timer", "all"),
    "Turn off the alarm.": CancelTimer("alarm", "one"),
    "Cancel all alarms.": CancelTimer("alarm", "all"),
    "Cancel the reminder about the meeting.": CancelTimer("reminder", "one", "meeting"),
    "Delete all my reminders.": CancelTimer("reminder", "all"),
}


@pytest.mark.parametrize(("text", "reflex"), OPEN_ONES.items())
def test_what_is_open_is_listed_and_cancelled(
    reflexes: Reflexes, text: str, reflex: Reflex
) -> None:
    assert reflexes.match(text) == reflex


def test_a_sentence_too_long_for_a_reflex_is_left_to_the_language_model(
    reflexes: Reflexes,
) -> None:
    begin, end = "Remind me to think of ", " in ten minutes."
    what = "x" * (MAX_CHARS - len(begin) - len(end))
    assert reflexes.match(begin + what + end) == SetReminder(After(600), f"think of {what}")
    assert reflexes.match(begin + what + "x" + end) is None


@pytest.mark.parametrize("text", ["Perhaps yes.", "Maybe yes", "Yes, maybe.", "Quite, yes."])
def test_a_yes_beside_a_perhaps_is_none(reflexes: Reflexes, text: str) -> None:
    assert reflexes.match(text) != Yes()


def test_a_perhaps_is_no_hindrance_to_a_request(reflexes: Reflexes) -> None:
    assert reflexes.match("Could you perhaps just tell me the time?") == TellTime()
