"""The MCP servers that a project's `.mcp.json` names: read with mistrust, offered, never taken."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.runtimes.protection import paths_beneath
from sayso.server.settings import SettingsError
from sayso.server.settings.mcp_servers import MOST_SERVERS, McpServer, read_server

FILE: Final = ".mcp.json"
MOST_BYTES: Final = 100_000


def offered(folder: Path) -> Mapping[str, McpServer]:
    """The servers in a folder's file that could be added, by name; what cannot be is left out."""
    try:
        holder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            said = paths_beneath.text(holder, FILE, MOST_BYTES)
        finally:
            os.close(holder)
        raw = read_json(said or b"", most_bytes=MOST_BYTES)
    except (OSError, UntrustedJsonError):
        return {}
    servers = raw.get("mcpServers") if isinstance(raw, dict) else None
    found: dict[str, McpServer] = {}
    for name, each in list(servers.items())[:MOST_SERVERS] if isinstance(servers, dict) else ():
        plain = re.sub(r"[^a-z0-9]", "", str(name).lower())[:30].lstrip("0123456789")
        try:
            found[plain] = read_server(plain, _table(each), FILE)
        except (SettingsError, TypeError, AttributeError):
            continue
    return found


def _table(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Ours, of the table that others write. Their hints and yeses count for nothing."""
    if url := raw.get("url"):
        return {"url": url}
    env = raw.get("env") or {}
    table: dict[str, Any] = {"command": [raw["command"], *raw.get("args", ())]}
    if env:
        table["env"] = [f"{name}={value}" for name, value in env.items()]
    return table
