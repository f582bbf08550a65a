"""Gives each client that takes part a device name that no other one has meanwhile."""


class DeviceNames:
    """Those that are in use."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def __len__(self) -> int:
        return len(self._used)

    def take(self, name: str) -> str:
        """This name, or it with the lowest number that is free."""
        free, number = name, 2
        while free in self._used:
            free, number = f"{name} {number}", number + 1
        self._used.add(free)
        return free

    def give_back(self, name: str) -> None:
        """Its client left."""
        self._used.discard(name)
