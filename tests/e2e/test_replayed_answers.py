"""What a device says again, after a cut or out of malice, approves nothing that came since. The
server, its sockets and its sandbox are real; the device is whatever somebody makes of one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from sayso.server.turn.regions.spoken_approval import SHOWN_S
from tests.e2e.device import device
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says
from tests.server.running_server import until

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(240)]

TALLY = "open('tally', 'w').write('x')"
RESUMES = {"features": ["resume"]}


def answers(question: dict[str, Any], id_: str = "", nonce: str = "") -> dict[str, Any]:
    return {
        "t": "approve",
        "id": id_ or question["id"],
        "nonce": nonce or question["nonce"],
        "decision": "yes",
    }


async def words_count() -> None:
    """Until a word could settle what was shown last."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    await until(lambda: loop.time() > since + SHOWN_S)


def ran(folder: Path) -> int:
    """How often the code has run that nobody is to approve."""
    return len(list(folder.rglob("tally")))


async def test_a_yes_that_is_sent_again_settles_no_later_question(tmp_path: Path) -> None:
    lend_kernels(tmp_path)
    home = Home(tmp_path, tmp_path, tmp_path)
    _, token = Devices(home.state / "devices.json").add("Desk", "", ("talk", "approve"))
    replies = (runs("print('harmless')"), runs(TALLY), says("Done."))
    with ScriptedModel([*replies]) as model, Server(tmp_path, model) as server:
        async with device(server, "desk", token, **RESUMES) as desk:
            session = (await desk.until("welcome"))["session"]
            sent = [
                {"t": "text", "text": "sort it", "seq": 1},
                {"t": "text", "text": "yes", "seq": 2},
            ]
            await desk.socket.send(json.dumps(sent[0]))
            first = await desk.until("approval.request")
            await words_count()
            sent[1]["question"] = first["id"]
            await desk.socket.send(json.dumps(sent[1]))
            await desk.until("approval.done", id=first["id"], decision="yes")
            await desk.until("code.end")
            second = await desk.until("approval.request", code=TALLY)
            last = max(each.get("seq", 0) for each in desk.messages)
        async with device(
            server, "desk", token, session=session, last_seq=last, **RESUMES
        ) as again:
            await words_count()
            yes = {"t": "text", "text": "yes", "question": first["id"]}
            for message in (
                *sent,  # what was sent, as it was
                {**yes, "seq": 9},  # and as if it were new
                yes,
                {**answers(first), "seq": 10},
                answers(first),
                answers(second, nonce=first["nonce"]),
                answers(first, nonce=second["nonce"]),
                {"t": "text", "text": "sort it", "seq": 1},
            ):
                await again.socket.send(json.dumps(message))
            await again.say("command", name="help")
            await again.until("command.done", name="help")
            await words_count()
            told = [each for each in again.messages if each["t"] in ("approval.done", "code.start")]
            assert not told
            assert not ran(tmp_path)
            # It is still open, and its own answer settles it, once.
            for _ in range(2):
                await again.socket.send(json.dumps(answers(second)))
            await again.until("approval.done", id=second["id"], decision="yes")
            await again.until("reply.delta", text="Done.")
            starts = [each for each in again.messages if each["t"] == "code.start"]
            assert len(starts) == 1
        assert ran(tmp_path) == 1


async def test_an_answer_that_another_device_overheard_counts_for_nobody_else(
    tmp_path: Path,
) -> None:
    lend_kernels(tmp_path)
    home = Home(tmp_path, tmp_path, tmp_path)
    devices = Devices(home.state / "devices.json")
    _, desks = devices.add("Desk", "", ("talk", "approve"))
    _, radios = devices.add("Radio", "", ("talk",))
    _, bens = devices.add("Ben's", "Ben", ("talk", "approve", "admin"))
    replies = (runs(TALLY), says("Done."))
    with ScriptedModel([*replies]) as model, Server(tmp_path, model) as server:
        async with (
            device(server, "desk", desks, **RESUMES) as desk,
            device(server, "radio", radios, conversation="Desk") as radio,
            device(server, "ben", bens, conversation="Desk") as ben,
        ):
            session = (await desk.until("welcome"))["session"]
            await desk.say("text", text="sort it")
            question = await desk.until("approval.request")
            await words_count()
            for thief in (radio, ben):
                await thief.socket.send(json.dumps(answers(question)))
                await thief.say("text", text="yes", question=question["id"])
                await thief.say("text", text="yes")
            async with device(server, "desk", bens, session=session, **RESUMES) as stolen:
                await stolen.socket.send(json.dumps(answers(question)))
                await stolen.say("text", text="yes", question=question["id"])
            await words_count()
            assert not [each for each in desk.messages if each["t"] == "approval.done"]
            assert not [each for each in ben.messages if each["t"].startswith("approval")]
            assert not ran(tmp_path)
            await desk.socket.send(json.dumps({**answers(question), "decision": "no"}))
            await desk.until("approval.done", decision="no")
