"""The life of an engine in a process of its own: its start, its trouble and its end."""

from sayso.server.speech.workers.supervisor import Ready, Supervisor


class SupervisedEngine:
    """What a recogniser and a synthesiser have in common that live in a worker."""

    def __init__(self, worker: Supervisor) -> None:
        self._worker = worker

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        return self._worker.trouble

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._worker.restarts

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._worker.pid

    async def start(self) -> Ready:
        """Load the model and warm it up; raises SpeechError if that can't be."""
        return await self._worker.start()

    async def ready(self) -> Ready:
        """Wait until it can be asked, also after a restart."""
        return await self._worker.ready()

    async def close(self) -> None:
        """End the worker."""
        await self._worker.close()
