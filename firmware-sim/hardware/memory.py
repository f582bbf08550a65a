"""The device's memory: every buffer is taken once, at boot, and nothing grows.

A real device would corrupt itself or restart where this raises MemoryExceeded, so a run in which
that happens has failed, whatever the cause.
"""

CAPTURE_BYTES = 96 * 1024
"""What was said and is not safe at the server yet: three seconds at 16 kHz."""

PLAY_BYTES = 16 * 1024
"""What came and is not played yet."""

JSON_BYTES = 4 * 1024
"""The longest message in either direction."""

FRAME_BYTES = 1_024
"""The longest frame of sound, header included."""


class MemoryExceeded(Exception):
    """More came than was declared, or than there is room for."""


class Ring:
    """First in, first out, in memory that was taken once."""

    def __init__(self, size: int) -> None:
        self._memory = bytearray(size)
        self._start = 0
        self._length = 0
        self.most = 0
        """The most bytes that were ever in it."""

    def __len__(self) -> int:
        return self._length

    @property
    def room(self) -> int:
        """Bytes that still fit."""
        return len(self._memory) - self._length

    def write(self, data: bytes) -> None:
        """Append. Raises MemoryExceeded, and keeps nothing of it, if it does not fit."""
        if len(data) > self.room:
            raise MemoryExceeded(f"{len(data)} bytes came, and there is room for {self.room}")
        at = (self._start + self._length) % len(self._memory)
        first = min(len(data), len(self._memory) - at)
        self._memory[at : at + first] = data[:first]
        self._memory[: len(data) - first] = data[first:]
        self._length += len(data)
        self.most = max(self.most, self._length)

    def peek(self, offset: int, count: int) -> bytes:
        """Look at bytes that stay."""
        count = max(0, min(count, self._length - offset))
        at = (self._start + offset) % len(self._memory)
        first = min(count, len(self._memory) - at)
        return bytes(self._memory[at : at + first]) + bytes(self._memory[: count - first])

    def drop(self, count: int) -> None:
        """Forget the oldest bytes."""
        count = min(count, self._length)
        self._start = (self._start + count) % len(self._memory)
        self._length -= count

    def take(self, count: int) -> bytes:
        """Remove the oldest bytes and return them."""
        data = self.peek(0, count)
        self.drop(len(data))
        return data

    def clear(self) -> None:
        self._start = self._length = 0
