"""The settings of `[adapters]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapters:
    """Which programs that speak other protocols are answered; none, unless it is set."""

    openai: bool = False
    """Whether programs that speak the OpenAI API are answered at `/v1`, where this server listens.
    Each shows a key that `sayso pair --key NAME` gives it."""
    mcp: bool = False
    """Whether programs that speak MCP are answered at `/mcp`, where this server listens, and by
    `sayso mcp serve`. They may ask and look, and never approve, whatever their key may."""
