"""MCP servers over HTTP: their tools, and logins that last, are renewed, and stay where they
belong."""

import asyncio
import contextlib
import json
import os
import stat
import sys
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.events import CodeEnd
from sayso.server.capabilities.mcp.servers import McpServers
from sayso.server.capabilities.mcp.worker_process import McpError
from sayso.server.settings import SettingsError
from sayso.server.settings.mcp_servers import McpServer, read_server
from tests.agent.conftest import AgentRig
from tests.agent.permissions.places import Described
from tests.capabilities.mcp.test_servers import answered, calls
from tests.scripted_model import says

SHOP = Path(__file__).parent / "guarded_shop.py"
BY_HAND, SECRET = "sayso-by-hand", "a secret from the form"
NOWHERE = Described("python")
Grant = Literal["authorization_code", "client_credentials"]

pytestmark = pytest.mark.slow


@contextlib.asynccontextmanager
async def shop(folder: Path, **environment: str) -> AsyncIterator[str]:
    """The address of a shop over HTTP."""
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SHOP),
        str(folder),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **environment, "LEDGER": str(folder / "ledger")},
    )
    assert process.stdout
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def connected(
    folder: Path, server: McpServer, *, browser: bool = True
) -> AsyncIterator[McpServers]:
    """As after a start of Sayso. `browser`: whether its person is there to log in."""
    visits: set[asyncio.Task[Any]] = set()

    def visit(address: str) -> None:
        visits.add(asyncio.create_task(asyncio.to_thread(opened, address)))

    home = Home(folder, folder, folder)
    servers = McpServers(home, {"shop": server}, visit=visit if browser else None)
    try:
        _, tools, _ = await servers.examine("shop")
        servers.accept("shop", tools)
        yield servers
    finally:
        await servers.close()
        await asyncio.gather(*visits)


def opened(address: str) -> None:
    """A browser opens it, and goes where it is sent."""
    with urllib.request.urlopen(address) as page:
        page.read()


def tokens_of(folder: Path) -> Path:
    """Where a login of the shop is kept."""
    (kept,) = folder.rglob("shop.tokens")
    return kept


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []


async def test_all_is_done_over_http_that_is_done_over_a_pipe(
    rig: AgentRig, tmp_path: Path
) -> None:
    async with (
        shop(tmp_path / "shop", OPEN="yes") as url,
        connected(tmp_path, McpServer(url=f"{url}/mcp", offer="tools")) as servers,
    ):
        agent = await rig.agent(
            calls("mcp_shop_find_price", item="tea"),
            calls("mcp_shop_buy", item="tea"),
            calls("mcp_shop_picture"),
            calls("mcp_shop_fail"),
            calls("mcp_shop_folder"),
            calls("mcp_read", server="shop", what="resource", uri="shop://opening"),
            says("Done."),
            tools=servers,
            code_runner=NOWHERE,
        )
        await rig.ask(agent, "go shopping", "yes")
        assert [end.status for end in rig.told(CodeEnd)] == ["ok", "ok", "ok", "error", "ok", "ok"]
        sent = str(rig.sent(-1))
        for words in ("tea costs 3", "image/png", "Error executing tool fail", "nine to five"):
            assert words in sent
        assert (tmp_path / "shop" / "ledger").read_text() == "tea 1\n"
        given = iter(["green tea", "yes"])
        rig.model.add(calls("mcp_shop_order"), says("Ordered."))
        told = await answered(rig, "order", agent, lambda _: next(given))
        assert "accept: {'item': 'green tea', 'gift': True}" in told


async def test_a_login_outlasts_a_restart_and_is_renewed_without_its_person(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path / "shop") as url:
        server = McpServer(url=f"{url}/mcp")
        async with connected(tmp_path, server):
            pass
        first = asked(tmp_path / "shop")
        assert [line.split()[0] for line in first] == ["register", "authorize", "token"]
        async with connected(tmp_path, server, browser=False):
            pass
        assert asked(tmp_path / "shop") == first
        kept = tokens_of(tmp_path)
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "expires": 1}))
        async with connected(tmp_path, server, browser=False):
            pass
        (renewed,) = asked(tmp_path / "shop")[3:]
        assert renewed.startswith("token refresh_token registered-1")
        kept.unlink()
        with pytest.raises(McpError, match="sayso mcp try shop"):
            async with connected(tmp_path, server, browser=False):
                pass


@pytest.mark.parametrize("way", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("grant", ["authorization_code", "client_credentials"])
async def test_what_was_registered_by_hand_is_shown_as_its_server_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, grant: Grant
) -> None:
    monkeypatch.setenv("SHOP_SECRET", SECRET)
    async with shop(tmp_path / "shop", TAKES=way) as url:
        server = McpServer(
            url=f"{url}/mcp",
            client_id=BY_HAND,
            client_secret_variable="SHOP_SECRET",
            issuer=url,
            grant=grant,
        )
        async with connected(tmp_path, server, browser=grant == "authorization_code"):
            pass
        logins = asked(tmp_path / "shop")
        assert logins[-1] == f"token {grant} {BY_HAND} {way}"
        assert "register" not in logins
        kept = tokens_of(tmp_path)
        assert SECRET not in kept.read_text()


@pytest.mark.parametrize("grant", ["authorization_code", "client_credentials"])
async def test_a_secret_goes_nowhere_but_to_its_issuer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grant: Grant
) -> None:
    monkeypatch.setenv("SHOP_SECRET", SECRET)
    evil = tmp_path / "evil"
    async with (
        shop(evil) as elsewhere,
        shop(tmp_path / "shop", LEADS=elsewhere) as url,
    ):
        server = McpServer(
            url=f"{url}/mcp",
            client_id=BY_HAND,
            client_secret_variable="SHOP_SECRET",
            issuer=url,
            grant=grant,
        )
        with pytest.raises(McpError, match=url):
            async with connected(tmp_path, server):
                pass
        assert not [line for line in asked(evil) if BY_HAND in line]


async def test_tokens_of_another_client_count_for_nothing(tmp_path: Path) -> None:
    async with shop(tmp_path / "shop") as url:
        async with connected(tmp_path, McpServer(url=f"{url}/mcp")):
            pass
        server = McpServer(url=f"{url}/mcp", client_id=BY_HAND, issuer=url)
        with pytest.raises(McpError, match="log in"):
            async with connected(tmp_path, server, browser=False):
                pass


async def test_what_a_login_lacks_is_said_before_anybody_is_asked(tmp_path: Path) -> None:
    login = {"client_id": "x", "issuer": "https://a.example", "grant": "client_credentials"}
    for more, why in (
        ({"client_secret_variable": "NO_SUCH"}, "no NO_SUCH; set it"),
        ({"client_key_file": str(tmp_path / "none.pem")}, "cannot be read"),
    ):
        server = read_server("shop", {"url": "https://shop.example", **login, **more}, "here")
        with pytest.raises(McpError, match=why):
            async with connected(tmp_path, server):
                pass


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"command": ["shop"], "client_id": "x"}, "with a url"),
        ({"url": "https://a.example", "token_variable": "T", "client_id": "x"}, "token_variable"),
        ({"url": "https://a.example", "client_secret_variable": "S"}, "needs its client_id"),
        (
            {"url": "https://a.example", "client_id": "x", "client_secret_variable": "S"},
            "the issuer that may have it",
        ),
        (
            {"url": "https://a.example", "client_id": "x", "grant": "client_credentials"},
            "need a client_secret_variable or a client_key_file",
        ),
        (
            {
                "url": "https://a.example",
                "client_id": "x",
                "client_key_file": "k.pem",
                "issuer": "https://b.example",
            },
            "goes with grant",
        ),
        (
            {"url": "https://a.example", "client_id": "x", "issuer": "http://b.example"},
            "must begin with https",
        ),
        ({"url": "https://a.example", "grant": "password"}, "must be"),
    ],
)
def test_a_login_that_cannot_be_is_told(table: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        read_server("shop", table, "settings.toml")
