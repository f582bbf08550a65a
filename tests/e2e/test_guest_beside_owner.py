"""A guest with every right of its own talks on the same server as its owner, and gets at nothing of
the owner's. The server, its sockets and its sandbox are real."""

import json
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.e2e.device import Device, device
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(300)]

WORD = "pineapple"
"""What the owner alone knows."""

ASKS = "answer = sayso.ask('Which fruit?')\nopen('note', 'w').write(answer)\nprint('done')"


def written(folder: Path) -> str:
    """What the owner's code was answered."""
    (note,) = folder.rglob("note")
    return note.read_text()


async def commanded(here: Device, name: str, text: str = "") -> dict[str, object]:
    before = len(here.messages)
    await here.say("command", name=name, text=text)
    return await here.until("command.done", before)


async def test_a_guest_gets_at_nothing_of_the_owners(tmp_path: Path) -> None:
    lend_kernels(tmp_path)
    home = Home(tmp_path, tmp_path, tmp_path)
    devices = Devices(home.state / "devices.json")
    _, owners = devices.add("Desk", "", ("talk", "approve", "admin"))
    _, bens = devices.add("Ben's", "Ben", ("talk", "approve", "admin"))
    look = f"import os\nfor place in ({str(tmp_path / 'workspaces')!r}, {str(tmp_path)!r}):\n"
    look += "    try:\n        print(os.listdir(place))\n    except OSError as error:\n"
    look += "        print(type(error).__name__)\nopen('mine', 'w').write('x')"
    with ScriptedModel([runs(ASKS, when="my plan")]) as model, Server(tmp_path, model) as server:
        async with (
            device(server, "desk", owners) as desk,
            device(server, "ben", bens, conversation="Desk") as ben,
        ):
            await ben.until("error", code="forbidden")
            await desk.say("text", text=f"my plan is {WORD}")
            asked = await desk.until("approval.request")
            await desk.say("approve", id=asked["id"], nonce=asked["nonce"], decision="yes")
            await desk.until("announce", asks=True)
            model.add(says("Good day."))
            # The question of the owner's code is open, and the guest answers at length.
            before = len(ben.messages)
            await ben.say("text", text="It is a banana.")
            await ben.until("reply.delta", before)
            for name, text in (
                ("resume", "Desk"), ("resume", "1"), ("conversations", ""), ("jobs", ""),
                ("cost", ""), ("grants", ""), ("diff", ""), ("undo", ""), ("redo", ""),
                ("folder", "~"), ("folder", str(tmp_path)), ("open", str(tmp_path)),
                ("mode", "full"), ("model", "http://127.0.0.1:9/v1"), ("export", ""),
                ("jobs", "stop j1"), ("reset", ""),
            ):  # fmt: skip
                done = await commanded(ben, name, text)
                assert WORD not in json.dumps(done), (name, text)
            assert not (await commanded(ben, "mode", "full"))["ok"]
            assert not (await commanded(ben, "open", str(tmp_path)))["ok"]
            assert not (await commanded(ben, "model", "http://127.0.0.1:9/v1"))["ok"]
            # Its code sees nothing of the owner's folders either.
            model.add(runs(look), says("Looked."))
            before = len(ben.messages)
            await ben.say("text", text="look around")
            own = await ben.until("approval.request", before)
            await ben.say("approve", id=own["id"], nonce=own["nonce"], decision="yes")
            await ben.until("code.end", before)
            told = json.dumps(ben.messages)
            assert "events.sqlite" not in told
            assert WORD not in told
            assert not [each for each in desk.messages if each["t"] == "code.end"]
            # The owner's own answer is what the code gets.
            await desk.say("text", text=f"a {WORD}")
            await desk.until("code.end", status="ok")
        note = written(tmp_path)
        assert WORD in note
        assert "banana" not in note
        of_ben = [one for one in model.requests if "banana" in str(one.messages)]
        assert of_ben
        assert not [one for one in of_ben if WORD in str(one.messages)]
