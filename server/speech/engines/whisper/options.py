"""Options of recognition by Whisper, each with its default and its reason."""

from dataclasses import asdict, dataclass, replace

from sayso.server.speech.workers.wire import Note, Value

FINAL_FLOOR = 12.0
"""Seconds. Encoding 12 s instead of 30 s takes a third of the time; with tiny.en on 103 recordings
in three noises 3.95 % of the words were wrong, as with 15 s."""

DRAFT_FLOOR = 10.0
"""Seconds. Below this Whisper starts to loop ("Stop Stop Stop")."""


@dataclass(frozen=True, slots=True)
class WhisperOptions:
    """How a Whisper model is run."""

    threads: int = 2
    """Processor threads of the worker. More than the machine's cores make it slower."""
    language: str = ""
    """A language code such as "de"; empty: English-only models hear English, others find out."""
    beam: int = 1
    """Width of the search. 5 is a little more exact and about twice as slow."""
    compute_type: str = "int8"
    """How CTranslate2 calculates: "int8", "float32", or whatever the hardware offers."""
    device: str = "cpu"
    """"cpu" or "cuda"."""
    final_floor: float = FINAL_FLOOR
    """Seconds of sound that a final pass encodes at least."""
    draft_floor: float = DRAFT_FLOOR
    """Seconds of sound that a draft encodes at least."""

    def with_threads(self, threads: int) -> "WhisperOptions":
        """The same with another number of threads."""
        return replace(self, threads=threads)

    def as_fields(self) -> dict[str, Value]:
        """For the wire to the worker."""
        return asdict(self)

    @classmethod
    def from_note(cls, note: Note) -> "WhisperOptions":
        """From the wire, in the worker."""
        return cls(
            threads=note.whole("threads"),
            language=note.text("language"),
            beam=note.whole("beam"),
            compute_type=note.text("compute_type"),
            device=note.text("device"),
            final_floor=note.number("final_floor"),
            draft_floor=note.number("draft_floor"),
        )
