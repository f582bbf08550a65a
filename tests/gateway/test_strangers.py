"""Who has not proved who they are: bounded, and no obstacle to those who can."""

import asyncio
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from sayso.server.gateway.limits import Limits
from sayso.server.trust.who import OWNER
from tests.gateway.house import WAIT_S, NetworkHouse, open_network_house


async def test_strangers_of_one_address_are_bounded_and_keep_nobody_out(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=30.0)
    async with open_network_house(tmp_path, limits) as house:
        _, token = house.devices.add("phone", OWNER, ["talk"])
        async with house.device(token), house.far(), house.far(), house.far():
            with pytest.raises((OSError, WebSocketException)):
                async with house.far():
                    pass
        await let_in(house, token)


async def let_in(house: NetworkHouse, token: str) -> None:
    """Try until the server has noticed that the strangers are gone."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                async with house.device(token):
                    return
            except (OSError, WebSocketException):
                await asyncio.sleep(0.01)


async def test_who_guesses_or_says_nothing_keeps_no_place_of_an_address(tmp_path: Path) -> None:
    limits = Limits(strangers=3, handshake_s=30.0, settled_s=0.0)
    async with open_network_house(tmp_path, limits) as house:
        _, token = house.devices.add("phone", OWNER, ["talk"])
        async with house.far() as first, house.far(), house.far():
            async with house.device(token):
                await first.wait_closed()
            async with house.device(token):
                pass
