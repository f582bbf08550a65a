"""What `/metrics` tells: times and counts that a monitor can read, and nothing that was said."""

import logging

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sayso.protocol import messages as m
from sayso.server.observability.metrics import Part, ServerMetrics
from sayso.server.turn.effects import Tell
from sayso.server.turn.events import Ticket

MARKS = {"final": 80.0, "first_token": 120.0, "first_audio_sent": 300.0, "of_tomorrow": 1.0}


def told(telemetry: ServerMetrics, *messages: m.FromServer) -> dict[str, float]:
    """All samples after these messages have passed, by name and labels."""
    for message in messages:
        telemetry.saw(Tell(message, Ticket(3, 0)))
    samples = {}
    for family in text_string_to_metric_families(telemetry.text().decode()):
        for sample in family.samples:
            labels = ",".join(value for _, value in sorted(sample.labels.items()))
            samples[f"{sample.name}({labels})"] = sample.value
    return samples


def test_a_turn_s_moments_are_published_as_histograms() -> None:
    samples = told(ServerMetrics(), m.Metrics(MARKS))
    assert samples["sayso_turns_total()"] == 1
    assert samples["sayso_turn_stage_seconds_count(final)"] == 1
    assert samples["sayso_turn_stage_seconds_sum(final)"] == pytest.approx(0.08)
    assert samples["sayso_turn_stage_seconds_bucket(0.1,final)"] == 1
    assert samples["sayso_turn_stage_seconds_bucket(0.05,final)"] == 0


def test_what_came_of_words_speech_and_code_is_counted() -> None:
    samples = told(
        ServerMetrics(),
        m.SttFinal("a secret"),
        m.SttFinal(""),
        m.SpeechStop(1, "interrupted"),
        m.CodeEnd("1", "died"),
        m.Error("ears_failed", "It broke."),
    )
    for name in (
        "sayso_utterances_total(words)",
        "sayso_utterances_total(nothing)",
        "sayso_speeches_total(interrupted)",
        "sayso_code_runs_total(died)",
        "sayso_errors_total(ears_failed)",
    ):
        assert samples[name] == 1, name


def test_nothing_that_was_said_is_published() -> None:
    telemetry = ServerMetrics()
    told(telemetry, m.SttFinal("a secret"), m.ReplyDelta("a secret"), m.Announce("a secret"))
    assert b"secret" not in telemetry.text()


def test_parts_are_asked_when_somebody_looks() -> None:
    telemetry = ServerMetrics()
    part = Part("")
    telemetry.watch_part("ears", lambda: part)
    telemetry.count_devices(lambda: 2)
    assert told(telemetry)["sayso_part_ready(ears)"] == 1
    part = Part("It is loading.", restarts=1)
    samples = told(telemetry)
    assert samples["sayso_part_ready(ears)"] == 0
    assert samples["sayso_part_restarts_total(ears)"] == 1
    assert samples["sayso_devices()"] == 2
    (trouble,) = telemetry.troubles().values()
    assert (trouble.part, trouble.state, trouble.detail) == ("ears", "bad", "It is loading.")


def test_each_turn_s_timeline_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        told(ServerMetrics(), m.Metrics(MARKS))
    assert (
        "turn 3, after the release: understood 80 ms, first word written 120 ms, "
        "first sound sent 300 ms"
    ) in caplog.text
