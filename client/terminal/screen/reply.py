"""An answer as it is being written: what is finished may scroll away, the rest still moves."""

_FENCES = ("```", "~~~")


class Reply:
    """Cuts a stream of text into paragraphs. A fenced block is one, whatever is in it."""

    def __init__(self) -> None:
        self._text = ""

    @property
    def unfinished(self) -> str:
        return self._text

    def feed(self, delta: str) -> list[str]:
        """Takes the next piece; gives the paragraphs that are complete."""
        self._text += delta
        *lines, rest = self._text.split("\n")
        finished: list[str] = []
        paragraph: list[str] = []
        fence = ""
        for line in lines:
            mark = line.strip()[:3]
            if fence:
                paragraph.append(line)
                if mark == fence:
                    fence = ""
            elif mark in _FENCES:
                fence = mark
                paragraph.append(line)
            elif line.strip():
                paragraph.append(line)
            elif paragraph:
                finished.append("\n".join(paragraph))
                paragraph = []
        self._text = "\n".join([*paragraph, rest])
        return finished

    def finish(self) -> str:
        """Gives what is left: the answer is over, or was cut off."""
        text, self._text = self._text, ""
        return text.strip("\n")
