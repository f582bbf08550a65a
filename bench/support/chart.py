"""The figures of `bench voice` as a picture: an SVG without any library.

Upper half: each wait beside plain Whisper's, with the bound that it must keep. Lower half: where
the time of a turn goes, from the release to the first sound that is heard.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.voice import Figures

WIDTH, LEFT, ROW, TOP = 860, 290, 34, 64
RIGHT = 90
INK, BAR, LATE, BOUND = "#1f2430", "#3b7dd8", "#d8503b", "#8a8f99"


@dataclass(frozen=True, slots=True)
class Wait:
    """One bar."""

    label: str
    milliseconds: float
    bound: float | None
    """Milliseconds that it must stay under."""


def write(figures: Figures, path: Path) -> None:
    """Draw them into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw(figures), encoding="utf-8")


def draw(figures: Figures) -> str:
    waits = _waits(figures)
    stages = figures["stages_ms"]
    height = TOP + ROW * (len(waits) + len(stages) + 3)
    body = [_text(20, 30, f"Sayso with {figures['model']}: how long a person waits", 18)]
    body.append(_text(20, 50, "milliseconds, median; the mark is the bound", 12))
    widest = max([wait.milliseconds for wait in waits] + [wait.bound or 0.0 for wait in waits])
    at = TOP
    for wait in waits:
        body += _bar(wait, at, (WIDTH - LEFT - RIGHT) / (widest or 1.0))
        at += ROW
    body.append(_text(20, at + 40, "Where the time goes after the release", 15))
    body += _stages(stages, at + 2 * ROW)
    content = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" fill="{INK}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{content}\n</svg>\n'
    )


def _waits(figures: Figures) -> list[Wait]:
    plain = figures["whisper_transcribe_ms"]["median"]
    calm = figures["first_audio_speculated_ms"]
    waits = [
        Wait("plain Whisper, transcript", plain, None),
        Wait("transcript", figures["final_ms"]["median"], 0.5 * plain),
        Wait("transcript, after a pause", figures["final_speculated_ms"]["median"], 25.0),
        Wait("first sound", figures["first_audio_ms"]["median"], 0.75 * plain),
        Wait("first sound, after a pause", calm["median"], 0.3 * plain),
        Wait("gap between chunks (p95)", figures["chunk_gap_ms"]["p95"], 0.0),
    ]
    if hushed := figures["interrupt_silence_ms"]:
        waits.append(Wait("silence after breaking in (p95)", hushed["p95"], 100.0))
    return waits


def _bar(wait: Wait, top: float, scale: float) -> list[str]:
    late = wait.bound is not None and wait.milliseconds > wait.bound
    end = LEFT + wait.milliseconds * scale
    parts = [
        _text(20, top + 16, wait.label, 13),
        _rectangle(LEFT, top, end - LEFT, LATE if late else BAR),
        _text(end + 8, top + 16, f"{wait.milliseconds:.0f}", 13),
    ]
    if wait.bound is not None:
        mark = LEFT + wait.bound * scale
        parts.append(
            f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{top - 4}" y2="{top + 26}" '
            f'stroke="{BOUND}" stroke-width="2"/>'
        )
    return parts


def _stages(stages: Mapping[str, float], top: float) -> list[str]:
    """Each moment as a step that begins where the one before it ended."""
    last = max(stages.values(), default=1.0)
    scale = (WIDTH - LEFT - RIGHT) / (last or 1.0)
    parts, began = [], 0.0
    for name, at in sorted(stages.items(), key=lambda stage: stage[1]):
        parts += [
            _text(20, top + 16, name.replace("_", " "), 13),
            _rectangle(LEFT + began * scale, top, (at - began) * scale, BAR),
            _text(LEFT + at * scale + 8, top + 16, f"{at:.0f}", 13),
        ]
        began = at
        top += ROW
    return parts


def _rectangle(x: float, y: float, width: float, colour: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(1.0, width):.1f}" height="22" fill="{colour}"/>'
    )


def _text(x: float, y: float, text: str, size: int) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}">{escape(text)}</text>'
