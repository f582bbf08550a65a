"""The settings of `[agent]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sayso.server.settings.value_types import Between, ByProject


@dataclass(frozen=True, slots=True)
class Agent:
    """How Sayso works for you, and how far it goes before it stops and says so."""

    profile: str = "default"
    """Settings for one kind of work under one name: `default`, `local-small`, `offline`, `coding`,
    `data`, or a file of your own in `profiles` of the configuration folder. What you set yourself
    wins over it."""
    manner: Literal["auto", "default", "local-small", "pocket"] = "auto"
    """How the model is talked to: strong ones briefly, small ones with rules one at a time, the
    pocket one with worked examples. `auto` goes by the model."""
    instructions: str = ""
    """What the model is to know or heed in all conversations, in your words, for example that you
    are called Ann, or want metric units. It is sent with every request."""
    tools: tuple[str, ...] = ()
    """Tools of other packages that are on, by the names under which those bring them. They run in
    the server itself, outside of the sandbox, and are asked about at each call, so take none from
    strangers. They are for your own conversations alone."""
    steps: Annotated[int, Between(1, 200), ByProject()] = 12
    """Times that the model may run code for one request. Most requests take one to four; a loop
    never ends by itself."""
    seconds: Annotated[float, Between(5, 86_400), ByProject()] = 600.0
    """Seconds that one request may take, time spent waiting for your say-so not counted."""
    tokens: Annotated[int, Between(1_000, 100_000_000), ByProject()] = 200_000
    """Tokens that one request may use, in and out. A dozen steps with long outputs take fewer."""
    usd: Annotated[float, Between(0.01, 1_000)] = 1.0
    """US dollars that one request may cost, where the price is known. A request of a few cents
    never needs it; a runaway stops before it is dear."""
    day_steps: Annotated[int, Between(1, 100_000)] = 500
    """Times that the model may run code in one day, midnight to midnight, in all conversations
    together. Like each limit it ends in a question; a yes lets the day have as much again."""
    day_seconds: Annotated[float, Between(5, 86_400)] = 14_400.0
    """Seconds that models and code may take in one day, time spent waiting for you not counted."""
    day_tokens: Annotated[int, Between(1_000, 10_000_000_000)] = 5_000_000
    """Tokens that one day may use, in and out."""
    day_usd: Annotated[float, Between(0.01, 10_000)] = 5.0
    """US dollars that one day may cost, where the price is known."""
    output_chars: Annotated[int, Between(500, 200_000), ByProject()] = 8_000
    """Characters of what code printed that the model is given, head and tail: a page or two."""
