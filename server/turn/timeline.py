"""When things happened in a turn, so that waiting can be explained."""


class Timeline:
    """Marks in milliseconds after the person had finished."""

    def __init__(self, origin: float) -> None:
        self._origin = origin
        self._marks: dict[str, float] = {}

    def mark(self, name: str, now: float) -> None:
        """Note the first time that this happens; later ones do not count."""
        self._marks.setdefault(name, round((now - self._origin) * 1000, 1))

    def has(self, name: str) -> bool:
        return name in self._marks

    @property
    def marks(self) -> dict[str, float]:
        return dict(self._marks)
