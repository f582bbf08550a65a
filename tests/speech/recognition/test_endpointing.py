"""When a person counts as having finished, by silence and by words."""

import pytest

from sayso.server.speech.recognition.endpointing import (
    FINISHED_MS,
    HELD_MS,
    LONGEST_MS,
    NO_NEWS_MS,
    NO_WORDS_MS,
    OPEN_MS,
    PATIENCE_MS,
    USUAL_MS,
    AdaptiveSilence,
    Stage,
)

FRAME_MS = 20


def play(
    judge: AdaptiveSilence, milliseconds: int, text: str | None = None, *, voice: bool
) -> Stage:
    """Lets so much time pass; gives the last stage."""
    stage: Stage = "waiting"
    for _ in range(milliseconds // FRAME_MS):
        stage = judge.take(voice, text)
    return stage


def after_speech(text: str | None, language: str = "en") -> tuple[AdaptiveSilence, str | None]:
    judge = AdaptiveSilence(language)
    assert play(judge, 1_000, text, voice=True) == "speaking"
    return judge, text


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("Turn off the light.", FINISHED_MS),
        ("Is it raining?", FINISHED_MS),
        ("Undo that.", FINISHED_MS),
        ("He said “stop.”", FINISHED_MS),
        ("turn off the light", USUAL_MS),
        (None, USUAL_MS),
        ("turn on the light and", HELD_MS),
        ("Remind me in 20 minutes to.", HELD_MS),
        ("Remind me in 20 minutes, too.", HELD_MS),
        ("Wake me at six, too.", FINISHED_MS),
        ("Who is that from?", OPEN_MS),
        ("what is the weather in", OPEN_MS),
        ("I would like to, um", OPEN_MS),
        ("I\u2019ll.", OPEN_MS),
        ("first,", OPEN_MS),
        ("Well...", OPEN_MS),
        ("今天天气\uff0c", OPEN_MS),
    ],
)
def test_the_silence_that_ends_an_utterance_fits_its_words(
    text: str | None, milliseconds: int
) -> None:
    judge, _ = after_speech(text)
    assert play(judge, milliseconds - FRAME_MS, text, voice=False) == "speaking"
    assert judge.take(False, text) == "ended"


def test_other_languages_have_their_own_open_words() -> None:
    for language, text, milliseconds in (
        ("de-DE", "mach das Licht an und", HELD_MS),
        ("en", "mach das Licht an und", USUAL_MS),
        ("xx", "turn on the light and", USUAL_MS),
    ):
        judge, _ = after_speech(text, language)
        assert play(judge, milliseconds - FRAME_MS, text, voice=False) == "speaking"
        assert judge.take(False, text) == "ended"


def test_words_that_change_during_the_silence_change_how_long_it_must_be() -> None:
    judge, _ = after_speech("turn on the light.")
    assert play(judge, 300, "turn on the light.", voice=False) == "speaking"
    assert play(judge, 500, "turn on the light in", voice=False) == "speaking"
    assert play(judge, 100, "turn on the light in", voice=False) == "ended"


def test_words_that_lack_the_latest_ones_are_no_end_until_those_are_there() -> None:
    judge, text = after_speech("Remind me.")
    for _ in range(1_000 // FRAME_MS):
        assert judge.take(False, text, behind=True) == "speaking"
    assert play(judge, 1_000, "Remind me in 20 minutes to.", voice=False) == "speaking"
    judge, text = after_speech("Turn off")
    for _ in range(1_000 // FRAME_MS):
        assert judge.take(False, text, behind=True) == "speaking"
    assert judge.take(False, "Turn off the light.") == "ended"


def test_words_that_lack_the_latest_ones_are_waited_for_no_longer_than_unfinished_ones() -> None:
    judge, text = after_speech("Remind me.")
    for _ in range(HELD_MS // FRAME_MS - 1):
        assert judge.take(False, text, behind=True) == "speaking"
    assert judge.take(False, text, behind=True) == "ended"


def test_a_pause_within_a_sentence_is_forgotten_when_speech_goes_on() -> None:
    judge, text = after_speech("what is the")
    for _ in range(3):
        assert play(judge, OPEN_MS - FRAME_MS, text, voice=False) == "speaking"
        assert play(judge, 200, text, voice=True) == "speaking"


def test_nobody_who_says_nothing_is_waited_for_longer_than_the_patience() -> None:
    judge = AdaptiveSilence()
    assert play(judge, PATIENCE_MS - FRAME_MS, voice=False) == "waiting"
    assert judge.take(False, None) == "timeout"
    short = AdaptiveSilence(patience_ms=1_000)
    assert play(short, 1_000, voice=False) == "timeout"


def test_a_click_does_not_begin_an_utterance_but_a_short_word_does() -> None:
    judge = AdaptiveSilence()
    play(judge, 60, voice=True)
    assert play(judge, 2_000, voice=False) == "waiting"
    play(judge, 80, voice=True)
    assert play(judge, USUAL_MS, voice=False) == "ended"


def test_after_a_cough_there_is_as_much_patience_as_before() -> None:
    judge = AdaptiveSilence()
    assert play(judge, 300, voice=True) == "speaking"
    assert play(judge, 580, voice=False) == "speaking"
    assert play(judge, 20, "", voice=False) == "waiting", "it is known by now to hold no word"
    assert play(judge, 1_000, "", voice=False) == "waiting"
    assert play(judge, 1_000, voice=True) == "speaking"
    assert play(judge, FINISHED_MS, "What time is it?", voice=False) == "ended"


def test_after_a_cough_alone_nobody_is_waited_for_any_longer() -> None:
    judge = AdaptiveSilence(patience_ms=1_500)
    play(judge, 300, voice=True)
    assert play(judge, 1_180, "", voice=False) == "waiting"
    assert judge.take(False, "") == "timeout"


def test_noise_that_never_pauses_but_says_nothing_ends_as_a_timeout() -> None:
    judge = AdaptiveSilence()
    assert play(judge, NO_WORDS_MS, voice=True) == "speaking"
    assert play(judge, 200, voice=True) == "timeout"


def test_noise_after_the_words_ends_the_utterance_although_it_never_pauses() -> None:
    judge, _ = after_speech("what time is it")
    # The transcript only moves its commas.
    assert play(judge, NO_NEWS_MS - 1_000, "What time is it?", voice=True) == "speaking"
    assert judge.take(True, "What, time is it") == "ended"


def test_new_words_keep_a_long_utterance_open_until_the_cap() -> None:
    judge = AdaptiveSilence()
    for word in range(LONGEST_MS // 400 - 1):
        assert play(judge, 400, f"word {word}", voice=True) == "speaking"
    assert play(judge, 400, "word last", voice=True) == "ended"


def test_the_judgement_is_final() -> None:
    judge, text = after_speech("Stop.")
    assert play(judge, 400, text, voice=False) == "ended"
    assert play(judge, 1_000, "Stop. And go on", voice=True) == "ended"
