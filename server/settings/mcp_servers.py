"""The MCP servers that a person has added: a table `[mcp.NAME]` each, in their own settings file.

A project's file has none: its servers are offered (`.mcp.json`), and taken by the person alone.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints
from urllib.parse import urlsplit

from sayso.protocol.home import Home
from sayso.server.home_network import is_at_home
from sayso.server.settings.errors import UnknownKey, WrongValue
from sayso.server.settings.keys import key_of
from sayso.server.settings.loading import MCP, parse, user_file
from sayso.server.settings.value_types import Between, NotAllowed, Value
from sayso.server.settings.writing import add_table, remove_table

NAME: Final = re.compile(r"[a-z][a-z0-9]{0,30}")
"""It becomes a part of the names by which models call its tools."""

MOST_SERVERS: Final = 32


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server."""

    command: tuple[str, ...] = ()
    """Program and arguments that start it on this machine. Either this or `url`."""
    url: str = ""
    """Where it answers over HTTP. Beyond your home it must be `https`."""
    env: tuple[str, ...] = ()
    """What else stands in its environment: `NAME=value`, or `NAME` for the server's own value."""
    token_variable: str = ""
    """Name of the environment variable whose value is sent to `url` as a bearer token."""
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    """Who logs in where `url` wants OAuth: you, in your browser, or Sayso by itself, with the
    `client_id` and the secret or key below."""
    client_id: str = ""
    """What Sayso is called at the authorization server, where you registered it by hand. An address
    that begins with `https` is that of a client metadata document of yours. Without one Sayso
    registers itself, where a server allows that."""
    client_secret_variable: str = ""
    """Name of the environment variable that holds the secret that goes with `client_id`."""
    client_key_file: str = ""
    """PEM file of the private key that goes with `client_id`, which signs instead of a secret."""
    issuer: str = ""
    """Address of the authorization server that `client_id` belongs to. A secret or a key is used
    there and nowhere else, wherever the MCP server leads."""
    scope: str = ""
    """With `client_credentials`: what to ask for, in the authorization server's words."""
    login_port: Annotated[int, Between(0, 65_535)] = 0
    """Where your browser comes back to after a login, `http://127.0.0.1:PORT/back`, if it had to be
    registered. 0: a port that is free the first time, and kept."""
    ask: Literal["auto", "always", "never"] = "auto"
    """Which of its tools are asked about. `auto`: all but those that say that they only read."""
    asked: tuple[str, ...] = ()
    """Tools that are always asked about."""
    unasked: tuple[str, ...] = ()
    """Tools that are not asked about, until strangers' words were read in the conversation."""
    allow: tuple[str, ...] = ()
    """The tools that are offered; empty means all."""
    deny: tuple[str, ...] = ()
    """Tools that are not offered."""
    offer: Literal["auto", "code", "tools"] = "auto"
    """How models call them: as functions in code, or one by one as well. `auto`: one by one as well
    while all servers together have five tools at most."""
    seconds: Annotated[float, Between(1, 86_400)] = 300.0
    """How long one call may take."""
    confined: bool = False
    """Whether the command runs in the sandbox, with the folders below and no network."""
    read_folders: tuple[str, ...] = ()
    """With `confined`: folders that it may read."""
    write_folders: tuple[str, ...] = ()
    """With `confined`: folders that it may read and write."""

    @property
    def what(self) -> str:
        """What it is, in words for the person."""
        if self.url:
            return self.url
        where = "in the sandbox" if self.confined else "outside of the sandbox"
        return f"{' '.join(self.command)} ({where})"


def mcp_servers(home: Home) -> Mapping[str, McpServer]:
    """Those in the person's settings, by name. Raises SettingsError."""
    path = user_file(home)
    tables = parse(path).get(MCP, {})
    if not isinstance(tables, dict) or len(tables) > MOST_SERVERS:
        raise WrongValue(f"{path}: write each MCP server as [mcp.NAME], {MOST_SERVERS} at most.")
    return {name: read_server(name, table, str(path)) for name, table in tables.items()}


def read_server(name: str, table: object, where: str) -> McpServer:
    """A server from its table. Raises UnknownKey, WrongValue."""
    if not NAME.fullmatch(name):
        raise WrongValue(f"{where}: [mcp.{name}] needs a name of small letters and digits.")
    if not isinstance(table, dict):
        raise WrongValue(f"{where}: write [mcp.{name}] as a table.")
    hints = get_type_hints(McpServer, include_extras=True)
    defaults = {field.name: field.default for field in dataclasses.fields(McpServer)}
    values: dict[str, Any] = {}
    for setting, raw in table.items():
        if setting not in hints:
            known = ", ".join(hints)
            raise UnknownKey(f"{where}: mcp.{name}.{setting} is no setting; there are: {known}.")
        key = key_of(f"{MCP}.{name}", setting, hints[setting], defaults[setting])
        try:
            values[setting] = key.from_toml(raw)
        except NotAllowed:
            raise WrongValue(f"{where}: {key.dotted} must be {key.allowed}.") from None
    return _checked(name, McpServer(**values), where)


def _checked(name: str, server: McpServer, where: str) -> McpServer:
    if bool(server.command) == bool(server.url):
        raise WrongValue(f"{where}: give mcp.{name} a command or a url, and not both.")
    if server.url:
        if not _is_safe(server.url):
            raise WrongValue(f"{where}: mcp.{name}.url must begin with https:// beyond your home.")
        if server.confined:
            raise WrongValue(f"{where}: mcp.{name} is reached by a url, so confined means nothing.")
    _check_login(name, server, where)
    if (server.read_folders or server.write_folders) and not server.confined:
        raise WrongValue(f"{where}: folders of mcp.{name} count with confined = true alone.")
    return server


def _check_login(name: str, server: McpServer, where: str) -> None:
    """Raises WrongValue."""
    logs_in = server.client_id or server.issuer or server.grant != "authorization_code"
    also = server.client_secret_variable or server.client_key_file
    if (logs_in or also) and (not server.url or server.token_variable):
        raise WrongValue(
            f"{where}: client_id and what goes with it count for mcp.{name} with a url and without"
            " a token_variable."
        )
    if also and not (server.client_id and server.issuer):
        raise WrongValue(
            f"{where}: a secret or key of mcp.{name} needs its client_id, and the issuer that may"
            " have it."
        )
    alone = server.grant == "client_credentials"
    if alone and bool(server.client_secret_variable) == bool(server.client_key_file):
        raise WrongValue(
            f"{where}: client_credentials of mcp.{name} need a client_secret_variable or a"
            " client_key_file, and not both."
        )
    if server.client_key_file and not alone:
        raise WrongValue(
            f"{where}: client_key_file of mcp.{name} goes with grant = client_credentials."
        )
    if server.issuer and not _is_safe(server.issuer):
        raise WrongValue(f"{where}: mcp.{name}.issuer must begin with https:// beyond your home.")


def _is_safe(url: str) -> bool:
    """Whether nobody on the way can read along."""
    address = urlsplit(url)
    return address.scheme == "https" or (
        address.scheme == "http" and is_at_home(address.hostname or "")
    )


def keep_server(home: Home, name: str, server: McpServer) -> Path:
    """Write a server to the person's settings; return the file. Raises SettingsError."""
    path = user_file(home)
    values: dict[str, Value] = {
        field.name: getattr(server, field.name)
        for field in dataclasses.fields(server)
        if getattr(server, field.name) != field.default
    }
    add_table(path, (MCP, name), values)
    return path


def drop_server(home: Home, name: str) -> bool:
    """Take a server out of the person's settings; false if there is none of that name. Raises
    SettingsError."""
    return remove_table(user_file(home), (MCP, name))
