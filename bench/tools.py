"""Measures tools of others: what a call of an MCP server costs, how much shorter their catalogue is
than their JSON, and how long the home takes from a sentence to what it does.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sayso.protocol.home import Home
from sayso.server.agent.tools.tool import ToolContext
from sayso.server.capabilities.home.assistant import HomeAssistant
from sayso.server.capabilities.home.sentences import HomeSentences
from sayso.server.capabilities.mcp.servers import McpServers
from sayso.server.capabilities.mcp.tools import McpSearch, McpTool
from sayso.server.settings.mcp_servers import McpServer
from tests.capabilities.home.pretend_home import TOKEN, pretend_home

Figures = Mapping[str, float | int]

CALLS: Final = 50
MANY: Final = 60
"""Tools beside the server's usual ones."""

SHOP: Final = Path(__file__).parents[1] / "tests" / "capabilities" / "mcp" / "shop_server.py"


def measure() -> Figures:
    """Take all figures."""
    return asyncio.run(_measure())


async def _measure() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        return {**await _mcp(Path(folder)), "home_ms": await _home()}


async def _mcp(folder: Path) -> Figures:
    env = (f"LEDGER={folder / 'ledger'}", f"MANY={MANY}")
    shop = McpServer(command=(sys.executable, str(SHOP)), env=env)
    servers = McpServers(Home(folder, folder, folder), {"shop": shop})
    try:
        began = time.perf_counter()
        _, tools, _ = await servers.examine("shop")
        connected = time.perf_counter() - began
        servers.accept("shop", tools)
        there = [tool for tool in servers if isinstance(tool, McpTool)]
        price = next(tool for tool in there if tool.name == "mcp_shop_find_price")
        nothing: Any = None
        context = ToolContext("run", nothing, nothing, nothing)
        times = []
        for _ in range(CALLS):
            began = time.perf_counter()
            async for _ in price.run({"item": "tea"}, context):
                pass
            times.append(1_000 * (time.perf_counter() - began))
        search = next(tool for tool in servers if isinstance(tool, McpSearch))
        whole = sum(len(json.dumps(tool.definition)) for tool in there)
        return {
            "mcp_first_s": round(connected, 2),
            "mcp_call_ms": round(statistics.median(times), 2),
            "tools": len(there),
            "catalogue_ratio": round(len(search.told) / whole, 3),
        }
    finally:
        await servers.close()


async def _home() -> float:
    """Milliseconds from the final words to the changed state, in the median: our part, over the
    wire of a home that answers at once."""
    async with pretend_home() as home:
        assistant = HomeAssistant(home.url, TOKEN)
        sentences = HomeSentences(assistant)
        times = []
        for number in range(CALLS):
            how = ("on", "off")[number % 2]
            began = time.perf_counter()
            plan = await sentences.plan(f"Turn {how} the kitchen light.", "en", "bench")
            if plan and plan.is_calm:
                await sentences.carry_out(plan)
            times.append(1_000 * (time.perf_counter() - began))
            if home.states["light.kitchen"] != how:
                raise SystemExit("The light is not as it was wanted.")
        await assistant.close()
        return round(statistics.median(times), 2)


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:24}{value:>12}" for name, value in figures.items())
