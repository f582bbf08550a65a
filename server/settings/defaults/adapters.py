"""The settings of `[adapters]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapters:
    """Which programs that speak other protocols are answered; none, unless it is set."""

    openai: bool = False
    """Whether programs that speak the OpenAI API are answered at `/v1`, where this server listens,
    and those that speak its Realtime API at `/v1/realtime`. Each shows a key that
    `sayso pair --key NAME` gives it."""
    mcp: bool = False
    """Whether programs that speak MCP are answered at `/mcp`, where this server listens, and by
    `sayso mcp serve`. They may ask and look, and never approve, whatever their key may."""
    wyoming: str = ""
    """Where Home Assistant finds speech to text, text to speech and a conversation, by the Wyoming
    protocol: an address and a port, such as `127.0.0.1:10300`. Empty: nowhere. The protocol has no
    keys and no encryption: who can connect there talks with you as you, and approves nothing."""
    xiaozhi: str = ""
    """Where xiaozhi boards connect: an address and a port, such as `192.168.1.5:8767`. Empty:
    nowhere. Each board has a key; the line is not encrypted, so a board approves nothing."""
    lmc: str = ""
    """Where 01's light client connects, on this machine: such as `127.0.0.1:10001`. Empty: nowhere.
    It has no key, so whatever runs on this machine can talk there, and nothing is approved."""
    peers: tuple[str, ...] = ()
    """Addresses of the machines that may use what is not encrypted (`adapters.wyoming`,
    `adapters.xiaozhi`) from elsewhere, such as `192.168.1.2`. Without any, it is for programs of
    this machine alone."""
