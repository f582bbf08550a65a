"""A Home Assistant made of its wire alone: dry runs, sentences, states and services."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

TOKEN = "home-token"


class PretendHome:
    """What is in it, and what was done to it."""

    def __init__(self) -> None:
        self.states = {
            "light.kitchen": "off",
            "lock.front": "locked",
            "media_player.radio": "playing",
        }
        self.title = "a song"
        self.says: object = None
        """What it answers to a sentence that it acts on, in place of its own words."""
        self.commands: list[str] = []
        self.url = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def meaning(self, sentence: str) -> dict[str, Any] | None:
        plain = sentence.lower().strip(" .?!")
        on = {"turn on the kitchen light": "light.kitchen", "lock the front door": "lock.front"}
        off = {"turn off the kitchen light": "light.kitchen", "unlock the front door": "lock.front"}
        for intent, sentences in (("HassTurnOn", on), ("HassTurnOff", off)):
            if plain in sentences:
                return self._found(intent, sentences[plain])
        if plain == "turn everything off":
            return self._found("HassTurnOff", *self.states)
        if plain == "is the front door locked":
            return self._found("HassGetState", "lock.front")
        if plain == "good night":  # the household's own sentence, which may do anything
            return {**self._found("GoodNight"), "source": "custom"}
        return None

    def _found(self, intent: str, *targets: str) -> dict[str, Any]:
        matched = {each: {"matched": True} for each in targets}
        return {"intent": {"name": intent}, "targets": matched, "match": True, "source": "builtin"}

    def command(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["type"]:
            case "conversation/agent/homeassistant/debug":
                result: Any = {"results": [self.meaning(each) for each in message["sentences"]]}
            case _:
                shown = {each: {"conversation": True} for each in self.states}
                result = {"exposed_entities": shown}
        return {"id": message["id"], "type": "result", "success": True, "result": result}

    def answer(self, method: str, path: str, body: Any) -> Any:  # noqa: ANN401 - JSON
        self.commands.append(f"{method} {path}")
        if path == "/api/conversation/process" and self.says is not None:
            return self.says
        if path == "/api/conversation/process":
            found = self.meaning(body["text"])
            if found is None:
                return _said("Sorry, I don't understand.", "error")
            for target in found["targets"]:
                self._switch(target, "off" if "Off" in found["intent"]["name"] else "on")
            return _said(f"Did {found['intent']['name']}.", "action_done")
        if path == "/api/states":
            return [
                {
                    "entity_id": each,
                    "state": state,
                    "attributes": {
                        "media_title": self.title,
                        "friendly_name": each.partition(".")[2],
                    },
                }
                for each, state in self.states.items()
            ]
        for entity in body["entity_id"]:
            self._switch(entity, path.rpartition("_")[2])
        return []

    def _switch(self, entity: str, how: str) -> None:
        lock = entity.startswith("lock.")
        self.states[entity] = {"on": "locked", "off": "unlocked"}[how] if lock else how


def said(text: str) -> dict[str, Any]:
    """The wire's form of a sentence of the home's."""
    return _said(text, "action_done")


def _said(text: str, kind: str) -> dict[str, Any]:
    return {"response": {"response_type": kind, "speech": {"plain": {"speech": text}}}}


@contextlib.asynccontextmanager
async def pretend_home() -> AsyncIterator[PretendHome]:
    """One that runs, until the block ends."""
    home = PretendHome()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        home._tasks.add(task)
        try:
            await _serve(home, reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass
        finally:
            home._tasks.discard(task)
            writer.close()

    home._server = await asyncio.start_server(take, "127.0.0.1", 0)
    home.url = f"http://127.0.0.1:{home._server.sockets[0].getsockname()[1]}"
    try:
        yield home
    finally:
        await home.stop()


async def _serve(
    home: PretendHome, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        method, path, _ = lines[0].split()
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        if fields.get("upgrade", "").lower() == "websocket":
            await _socket(home, head, reader, writer)
            return
        raw = await reader.readexactly(int(fields.get("content-length", 0)))
        allowed = fields.get("authorization") == f"Bearer {TOKEN}"
        answer = home.answer(method, path, json.loads(raw or b"{}")) if allowed else {}
        body = json.dumps(answer).encode()
        status = "200 OK" if allowed else "401 Unauthorized"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()


async def _socket(
    home: PretendHome, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    wire = ServerProtocol()
    wire.receive_data(head)
    (request,) = wire.events_received()
    wire.send_response(wire.accept(request))  # type: ignore[arg-type]

    def send(message: dict[str, Any]) -> None:
        wire.send_text(json.dumps(message).encode())
        writer.writelines(wire.data_to_send())

    send({"type": "auth_required"})
    while data := await reader.read(65_536):
        wire.receive_data(data)
        for frame in wire.events_received():
            if isinstance(frame, Frame) and frame.opcode is Opcode.TEXT:
                message = json.loads(bytes(frame.data))
                if message["type"] == "auth":
                    right = message["access_token"] == TOKEN
                    send({"type": "auth_ok" if right else "auth_invalid"})
                else:
                    send(home.command(message))
        writer.writelines(wire.data_to_send())
        await writer.drain()
        if wire.close_expected():
            return
