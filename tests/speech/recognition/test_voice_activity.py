"""Speech is told from silence and noise, and a long recording is cut where it is quiet."""

import numpy as np
import pytest

from sayso.server.speech.recognition.loudness import from_pcm, is_silence, pieces
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.speech.recognition.voice_activity import VoiceActivity
from tests.speech import sounds


def test_a_pause_is_counted_in_samples_from_the_last_speech() -> None:
    gate = VoiceActivity()
    gate.feed(sounds.voice(1.0))
    assert gate.spoken == HEARING_RATE
    assert gate.quiet_for == 0
    gate.feed(sounds.silence(0.2))
    assert gate.quiet_for == pytest.approx(0.2 * HEARING_RATE, abs=640)


def test_a_click_is_no_speech() -> None:
    gate = VoiceActivity()
    gate.feed(sounds.silence(0.5) + sounds.white_noise(0.02, 0.3) + sounds.silence(0.5))
    assert gate.spoken == 0


def test_a_steady_fan_becomes_silence() -> None:
    gate = VoiceActivity()
    gate.feed(sounds.fan(20.0))
    before = gate.spoken
    gate.feed(sounds.fan(5.0))
    assert gate.spoken - before < 0.2 * HEARING_RATE


def test_pieces_of_any_size_count_alike() -> None:
    whole, bits = VoiceActivity(), VoiceActivity()
    audio = sounds.voice(0.5) + sounds.silence(0.3) + sounds.voice(0.2)
    whole.feed(audio)
    for at in range(0, len(audio), 333):
        bits.feed(audio[at : at + 333])
    assert (whole.spoken, whole.quiet_for) == (bits.spoken, bits.quiet_for)


def test_silence_is_silence_even_with_an_offset() -> None:
    assert is_silence(from_pcm(b""))
    assert is_silence(from_pcm(sounds.silence(1)))
    assert is_silence(np.full(16000, 0.3, dtype=np.float32))
    assert not is_silence(from_pcm(sounds.voice(0.1)))


def test_a_long_recording_is_cut_in_its_pauses_and_nothing_is_lost() -> None:
    audio = (sounds.voice(6) + sounds.silence(0.5)) * 9
    samples = from_pcm(audio)
    parts = pieces(samples, longest=28 * HEARING_RATE, shortest=14 * HEARING_RATE)
    assert all(len(part) <= 28 * HEARING_RATE for part in parts)
    assert np.array_equal(np.concatenate(parts), samples)
    at = 0
    for part in parts[:-1]:
        at += len(part)
        assert 6.0 < at / HEARING_RATE % 6.5 < 6.5, "the cut lies in a pause"


def test_half_a_sample_at_the_end_is_dropped() -> None:
    assert len(from_pcm(b"\x01\x02\x03")) == 1
