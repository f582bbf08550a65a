"""`/grants` lists what is open to the browser for a while, beside what is granted, and ends it."""

from functools import partial
from pathlib import Path

from sayso.server.agent.permissions.grants_text import HeldLease
from sayso.server.store.decisions import ReachTakenBack
from tests.server.running_server import running_server


async def test_what_is_open_for_a_while_is_listed_and_taken_back(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        await desk.ask("one")
        (here,) = server.conversations.open.values()
        held = {"example.org": 130.0, "example.com": 40.0}

        def leases() -> list[HeldLease]:
            return [
                HeldLease(f"browse {host}", seconds, partial(held.__delitem__, host))
                for host, seconds in held.items()
            ]

        here.agent.permissions.leases.add(leases)
        told = (await desk.command("grants")).text
        assert "1  browse example.org  for 2 more minutes" in told
        assert "2  browse example.com  for 1 more minute" in told
        assert (await desk.command("grants", "forget browse example.org")).ok
        assert list(held) == ["example.com"]
        assert "browse example.com" in (await desk.command("grants", "forget")).text
        assert not held
        taken = [
            event.record.what
            for event in await here.events()
            if isinstance(event.record, ReachTakenBack)
        ]
        assert taken == [("browse example.org",), ("browse example.com",)]
        assert not (await desk.command("grants", "forget 1")).ok
