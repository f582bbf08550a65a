"""Measures what working at the same time is worth: three helpers together, and the slowest of them
alone. Each thinks for a second before a reply, and runs code that takes two."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.server.agent.llm.model import ChatMessage
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from tests.capabilities.git.partner import Partner, Told, bash, partner, tool

NAMES: Final = ("first", "second", "third")

_CODE: Final = "sleep 2; echo done >> {name}.txt"
_HELPER: Final = "You are a helper of another assistant"


class _Thinking(Told):
    """Lets each helper run its code once."""

    takes_s = 1.0

    def says(self, messages: Sequence[ChatMessage]) -> str:
        said = [str(message["content"]) for message in messages if message["role"] == "user"]
        task = next((text for text in said if _HELPER in text), "")
        if not task:
            return super().says(messages)
        if len(said) > 1:
            return "Done."
        name = next(name for name in NAMES if f"do {name}" in task)
        return bash(_CODE.format(name=name))


async def helpers_parallel_ratio(environment: KernelEnvironment, folder: Path) -> float:
    """How long three helpers take together, as a multiple of the slowest of them alone."""
    os.environ["GIT_CONFIG_GLOBAL"] = str(folder / "gitconfig")
    async with partner(folder, model=_Thinking(), environment=environment) as here:
        await _seconds(here, NAMES[:1])  # so that nothing is done for the first time
        alone = [await _seconds(here, (name,)) for name in NAMES]
        return await _seconds(here, NAMES) / max(alone)


async def _seconds(here: Partner, names: Sequence[str]) -> float:
    began = time.perf_counter()
    tasks = [{"task": f"do {name}", "write": True} for name in names]
    told = await here.ask("do it", tool("helpers", tasks=tasks))
    if told.count("(done)") != len(names):
        raise SystemExit(f"A helper did not end as it should: {told}")
    return time.perf_counter() - began
