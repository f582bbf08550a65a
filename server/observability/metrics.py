"""Collects what `/metrics` and `/health` report: waiting times and the state of the parts. Never
what was said.

It observes the turn machine's effects, and asks the parts when a report is requested.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from sayso.protocol.health import Finding
from sayso.protocol.messages import CodeEnd, Error, Metrics, SpeechStop, SttFinal
from sayso.server.turn.effects import Effect, Tell

log = logging.getLogger(__name__)

STAGES = {
    "final": "understood",
    "first_token": "first word written",
    "first_clause": "first clause complete",
    "first_chunk": "first clause spoken",
    "first_audio_sent": "first sound sent",
    "first_audio_played": "first sound played",
}
"""The moments of a turn, as they are named on the wire and in words."""

BUCKETS = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
"""Seconds. Fine where a person feels the difference; a language model on a CPU takes the rest."""


@dataclass(frozen=True, slots=True)
class Part:
    """How a part of the server is at the moment."""

    trouble: str
    """What keeps it from being asked, for a person; empty if nothing does."""
    restarts: int = 0
    """How often its process had to be started again."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked."""
        return not self.trouble


class _Parts(Collector):
    """Asks the parts when somebody looks."""

    def __init__(self, parts: Mapping[str, Callable[[], Part]]) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        return iter(self._families())

    def _families(self) -> Iterator[Metric]:
        ready = GaugeMetricFamily("sayso_part_ready", "1 if the part can be asked", labels=["part"])
        restarts = CounterMetricFamily(
            "sayso_part_restarts", "Times that a part's process was started again", labels=["part"]
        )
        for name, look in self._parts.items():
            part = look()
            ready.add_metric([name], part.ready)
            restarts.add_metric([name], part.restarts)
        yield ready
        yield restarts


class ServerMetrics:
    """Counts and times; `text` is what is published."""

    def __init__(self) -> None:
        self._parts: dict[str, Callable[[], Part]] = {}
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(_Parts(self._parts))
        self._stages = Histogram(
            "sayso_turn_stage_seconds",
            "From the end of a person's words to each moment of the answer",
            ["stage"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._turns = Counter("sayso_turns", "Requests that were worked on", registry=registry)
        self._heard = Counter(
            "sayso_utterances", "Utterances by what came of them", ["result"], registry=registry
        )
        self._speeches = Counter(
            "sayso_speeches", "Spoken answers by how they ended", ["end"], registry=registry
        )
        self._runs = Counter(
            "sayso_code_runs", "Runs of code by how they ended", ["status"], registry=registry
        )
        self._errors = Counter(
            "sayso_errors", "Errors that a person was told of", ["code"], registry=registry
        )
        self._devices = Gauge("sayso_devices", "Devices that are connected", registry=registry)
        tasks = Gauge("sayso_tasks", "Tasks at work in the event loop", registry=registry)
        tasks.set_function(_tasks)
        for stage in STAGES:
            self._stages.labels(stage)
        for result in ("words", "nothing"):
            self._heard.labels(result)

    def count_devices(self, count: Callable[[], int]) -> None:
        """How to find out how many devices there are."""
        self._devices.set_function(count)

    def watch_part(self, name: str, look: Callable[[], Part]) -> None:
        """How to find out how a part is."""
        self._parts[name] = look

    def troubles(self) -> dict[str, Finding]:
        """The parts that can't be asked at this moment, by name."""
        looked = {name: look() for name, look in self._parts.items()}
        return {
            name: Finding(name, "bad", part.trouble)
            for name, part in looked.items()
            if not part.ready
        }

    def saw(self, effect: Effect) -> None:
        """An effect of a turn machine passes."""
        if not isinstance(effect, Tell):
            return
        match effect.message:
            case Metrics(marks=marks):
                self._turn(effect.ticket.turn, marks)
            case SttFinal(text=text):
                self._heard.labels("words" if text else "nothing").inc()
            case SpeechStop(reason=reason):
                self._speeches.labels(reason).inc()
            case CodeEnd(status=status):
                self._runs.labels(status).inc()
            case Error(code=code):
                self._errors.labels(code).inc()
            case _:
                pass

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry)

    def _turn(self, turn: int, marks: Mapping[str, float]) -> None:
        self._turns.inc()
        known = {stage: marks[stage] for stage in STAGES if stage in marks}
        for stage, milliseconds in known.items():
            self._stages.labels(stage).observe(milliseconds / 1000)
        told = ", ".join(f"{STAGES[stage]} {at:.0f} ms" for stage, at in known.items())
        log.info("turn %d, after the release: %s", turn, told or "nothing")


def _tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0  # asked from outside of the loop
