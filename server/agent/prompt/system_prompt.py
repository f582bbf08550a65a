"""Writes the system prompt: what holds for a whole conversation, so that providers can keep it in
their caches. What changes in between is told with requests (`situation_note.py`)."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.prompt.profiles import ModelProfile, Way
from sayso.server.agent.tools.run_code import CodeRunner


@dataclass(frozen=True, slots=True)
class Facts:
    """What a model is told of itself and of its limits."""

    sees: bool = False
    """It can look at pictures."""
    limits: RequestLimits = field(default_factory=RequestLimits)


def system_prompt(
    profile: ModelProfile,
    code_runner: CodeRunner,
    languages: Sequence[str],
    way: Way,
    facts: Facts,
    added: str,
) -> str:
    """The prompt. `languages`: those that run here. `added`: how added tools are used."""
    parts = [profile.system]
    if languages:
        parts.append(profile.with_tool if way == "call" else profile.with_fences)
        parts.append(profile.access)
        parts.append(profile.calls if "python" in languages else "")
        parts.append(profile.limits)
        parts.append(profile.sees if facts.sees else profile.sees_not)
    else:
        parts.append(profile.without_code)
    text = "\n".join(part.strip() for part in parts if part.strip())
    fields = {
        "{languages}": ", ".join(languages) or "none",
        "{where}": code_runner.where,
        "{refusal}": code_runner.refusal,
        "{system}": _system_name(),
        "{at_hand}": code_runner.at_hand,
        "{steps}": str(facts.limits.steps),
        "{minutes}": f"{facts.limits.seconds / 60:g}",
    }
    for name, value in fields.items():
        text = text.replace(name, value)
    return "\n".join(part for part in (text, added, profile.instructions.strip()) if part)


@cache
def _system_name() -> str:
    """The system that code runs on."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = f"macOS {platform.mac_ver()[0]}" if platform.mac_ver()[0] else ""
    return f"{name or platform.system()}, {platform.machine()}"
