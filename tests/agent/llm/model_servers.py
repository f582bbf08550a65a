"""Model servers on loopback, as their makers' documentation describes their answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sayso.server.agent.llm.local_servers import (
    LocalServer,
    lm_studio_models,
    ollama_models,
    openai_models,
)

SURVEYS = {
    "Ollama": ollama_models,
    "LM Studio": lm_studio_models,
    "llamafile": openai_models,
    "Jan": openai_models,
}


@dataclass
class Double:
    """A program on a port that gives prepared answers, or none."""

    answers: Mapping[str, object]
    """By path; an int is a status without a body, a bytes object is sent as it is."""
    asked: list[str] = field(default_factory=list)
    """Method, path and body of every request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
        body = (await reader.readexactly(int(length))).decode() if length else ""
        self.asked.append(f"{method} {path} {body}".strip())
        answer = self.answers.get(path, 404)
        if answer == "silence":
            await reader.read()  # until the other end gives up
        elif isinstance(answer, bytes):
            writer.write(answer)
        elif isinstance(answer, int):
            writer.write(f"HTTP/1.1 {answer} X\r\nContent-Length: 0\r\n\r\n".encode())
        else:
            content = json.dumps(answer).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + content)
        writer.close()


@asynccontextmanager
async def model_server(
    name: str, answers: Mapping[str, object]
) -> AsyncIterator[tuple[LocalServer, Double]]:
    """One server that runs, and what it is asked."""
    double = Double(answers)
    server = await asyncio.start_server(double.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield LocalServer(name, port, SURVEYS[name], "start it"), double


def ollama(*models: Mapping[str, object], loaded: str = "", **details: object) -> dict[str, object]:
    """Ollama's answers."""
    return {
        "/api/tags": {"models": list(models)},
        "/api/ps": {"models": [{"name": loaded}] if loaded else []},
        "/api/show": details or {"capabilities": ["completion"]},
    }
