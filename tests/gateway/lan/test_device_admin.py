"""A device that administers others pairs and revokes only those that it is allowed to."""

from pathlib import Path

from websockets.asyncio.client import ClientConnection

from sayso.protocol import messages as m
from tests.gateway.running_gateway import hear, open_network_gateway, say


async def refusal(socket: ClientConnection) -> str:
    error = await hear(socket)
    assert isinstance(error, m.Error)
    assert (error.code, error.fatal) == ("forbidden", False)
    return error.message


async def test_a_guest_lets_in_its_own_devices_alone(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        gateway.devices.add("laptop", "", ("talk", "approve"))
        _, token = gateway.devices.add("phone", "Ann", ("talk", "admin"))
        async with gateway.device(token) as phone:
            await say(phone, m.PairingOpen(person="Bob", scopes=("talk",)))
            assert "own person's devices" in await refusal(phone)
            await say(phone, m.PairingOpen(scopes=("talk", "approve")))
            assert "rights that it has itself" in await refusal(phone)
            await say(phone, m.PairingOpen(name="watch", scopes=("talk",)))
            opened = await hear(phone)
            assert isinstance(opened, m.PairingOpened)
            async with gateway.far() as watch:
                await say(watch, m.Pair(opened.digits))
                paired = await hear(watch)
            assert isinstance(paired, m.Paired)
            assert (paired.person, paired.scopes) == ("Ann", ("talk",))


async def test_a_guest_sees_and_turns_out_its_own_devices_alone(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        gateway.devices.add("laptop", "", ("talk",))
        gateway.devices.add("watch", "Ann", ("talk",))
        _, token = gateway.devices.add("phone", "Ann", ("talk", "admin"))
        async with gateway.device(token) as phone:
            await say(phone, m.DevicesRevoke("laptop"))
            assert isinstance(await hear(phone), m.Error)
            await say(phone, m.DevicesRevoke("watch"))
            listed = await hear(phone)
            assert isinstance(listed, m.Devices)
            assert [one["name"] for one in listed.devices] == ["phone"]
        assert [one.name for one in gateway.devices.all] == ["laptop", "phone"]


async def test_a_guest_does_not_shut_the_owners_window_and_the_owner_does_not_wait_for_a_guest(
    tmp_path: Path,
) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        _, token = gateway.devices.add("phone", "Ann", ("talk", "admin"))
        async with gateway.client(device="desk") as desk, gateway.device(token) as phone:
            await say(desk, m.PairingOpen())
            assert isinstance(await hear(desk), m.PairingOpened)
            await say(phone, m.PairingOpen(scopes=("talk",)))
            assert "Somebody else" in await refusal(phone)
            await say(desk, m.PairingClose())
            assert isinstance(await hear(desk), m.PairingDone)
            await say(phone, m.PairingOpen(scopes=("talk",)))
            assert isinstance(await hear(phone), m.PairingOpened)
            await say(desk, m.PairingOpen())
            assert isinstance(await hear(desk), m.PairingOpened)
            assert await hear(phone) == m.PairingDone("closed")


async def test_nobody_gives_rights_that_they_have_not(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        _, token = gateway.devices.add("phone", "", ("talk", "admin"))
        async with gateway.device(token) as phone:
            await say(phone, m.PairingOpen(scopes=("talk", "approve")))
            assert "rights that it has itself" in await refusal(phone)
            await say(phone, m.PairingOpen(person="Ann", scopes=("talk", "admin")))
            assert isinstance(await hear(phone), m.PairingOpened)
