"""A factory-fresh device is set up as a person does it, at a real listener with real TLS."""

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.hardware.radio import trust
from sayso.firmware_sim.program.portal import PROBES, Portal
from sayso.firmware_sim.program.setup import Setup
from sayso.protocol import messages as m
from tests.gateway.running_gateway import NetworkGateway, hear, open_network_gateway, say

FOR_DEVICES = ("devices", "pairing.opened", "pairing.done")


class Phone:
    """What a person's phone does with the portal."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    async def get(self, path: str) -> tuple[str, str]:
        """Where it was led, and what it read there."""
        return await asyncio.to_thread(self._ask, path, None)

    async def fill_in(self, path: str, **form: str) -> str:
        return (await asyncio.to_thread(self._ask, path, form))[1]

    def _ask(self, path: str, form: Mapping[str, str] | None) -> tuple[str, str]:
        data = urllib.parse.urlencode(form).encode() if form else None
        with urllib.request.urlopen(self._address + path, data, timeout=20) as answer:
            return answer.url.removeprefix(self._address), answer.read().decode()


@asynccontextmanager
async def portal(nvs: Nvs) -> AsyncIterator[tuple[Phone, Portal]]:
    opened = Portal(nvs, Setup({"home": "secret"}))
    port = await opened.open(0)
    try:
        yield Phone(port), opened
    finally:
        await opened.close()


@asynccontextmanager
async def pairing(gateway: NetworkGateway) -> AsyncIterator[m.PairingOpened]:
    """The owner has said `sayso pair`."""
    async with gateway.client(device="console", wants=FOR_DEVICES) as owner:
        await say(owner, m.PairingOpen())
        opened = await hear(owner)
        assert isinstance(opened, m.PairingOpened)
        yield opened


async def test_a_device_is_set_up_by_its_page_and_known_from_then_on(tmp_path: Path) -> None:
    nvs = Nvs(tmp_path / "flash")
    async with open_network_gateway(tmp_path) as gateway, portal(nvs) as (phone, opened):
        address = f"https://127.0.0.1:{gateway.network_port}"
        async with pairing(gateway) as window:
            page = await phone.fill_in(
                "/join", network="home", password="secret", server=address, name="lamp"
            )
            assert window.words in page
            page = await phone.fill_in("/pair", code=window.digits)
            assert "lamp belongs to this house" in page
        stored = await opened.set_up()

        assert stored.name == "lamp"
        assert Nvs(tmp_path / "flash").load() == stored
        await comes_in(stored)


async def comes_in(stored: Stored) -> None:
    async with connect(stored.server, ssl=trust(stored.authority), compression=None) as socket:
        await say(socket, m.Hello(m.VersionRange(1, 1), "lamp 1", token=stored.token))
        assert isinstance(await hear(socket), m.Welcome)


async def test_a_wrong_code_is_told_and_may_be_typed_again(tmp_path: Path) -> None:
    nvs = Nvs(tmp_path / "flash")
    async with open_network_gateway(tmp_path) as gateway, portal(nvs) as (phone, _):
        address = f"https://127.0.0.1:{gateway.network_port}"
        async with pairing(gateway) as window:
            await phone.fill_in("/join", network="home", password="secret", server=address)
            wrong = f"{(int(window.digits) + 1) % 1_000_000:06d}"
            page = await phone.fill_in("/pair", code=wrong)
            assert "not right" in page
            assert not nvs.load().is_set_up
            assert "Done" in await phone.fill_in("/pair", code=window.digits)


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({"network": "home", "password": "guess", "server": "x"}, "does not take this password"),
        ({"network": "cafe", "password": "", "server": "x"}, "no network"),
        ({"network": "home", "password": "secret", "server": "127.0.0.1:1"}, "Nobody answers"),
        ({"network": "home", "password": "secret", "server": ":::"}, "no address"),
        ({"network": "home", "password": "secret", "server": "http://pi.local"}, "use https"),
    ],
)
async def test_what_is_wrong_is_told_on_the_page(
    tmp_path: Path, form: dict[str, str], complaint: str
) -> None:
    async with portal(Nvs(tmp_path / "flash")) as (phone, _):
        page = await phone.fill_in("/join", **form)

    assert complaint in page
    assert "<form" in page


async def test_another_server_at_the_address_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    nvs = Nvs(tmp_path / "flash")
    async with open_network_gateway(tmp_path / "one") as right, portal(nvs) as (p, o):
        address = f"https://127.0.0.1:{right.network_port}"
        async with pairing(right) as window:
            await p.fill_in("/join", network="home", password="secret", server=address)
            await p.fill_in("/pair", code=window.digits)
        stored = await o.set_up()
    async with open_network_gateway(tmp_path / "two") as impostor:
        there = f"wss://127.0.0.1:{impostor.network_port}/ws"
        with pytest.raises(OSError, match="certificate verify failed"):
            async with connect(there, ssl=trust(stored.authority)):
                pass
        assert not impostor.joined


async def test_every_phones_question_leads_to_the_page(tmp_path: Path) -> None:
    async with portal(Nvs(tmp_path / "flash")) as (phone, _):
        for probe in PROBES:
            path, page = await phone.get(probe)
            assert path == "/"
            assert "Set up Sayso" in page
        assert json.loads((await phone.get("/networks"))[1]) == ["home"]


async def test_a_form_may_say_anything(tmp_path: Path) -> None:
    async with portal(Nvs(tmp_path / "flash")) as (phone, _):
        page = await phone.fill_in("/join", network="home", password="x", server="<script>")
        assert "<script>" not in page
        with pytest.raises(urllib.error.HTTPError) as refused:
            await phone.get("/../../etc/passwd")
        assert refused.value.code == HTTPStatus.NOT_FOUND
        refused.value.close()
        with pytest.raises(OSError):  # noqa: PT011 (the device hangs up, however that is told)
            await phone.fill_in("/join", server="x" * 9_000)
        assert "Set up" in (await phone.get("/"))[1]
