"""Scenes in which code is at work, and what was said and shown in them."""

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.scene import Scene

QUESTION = m.ApprovalRequest("q1", "n", "python", "…", "/work")
START = m.CodeStart("r1", "python", "…")
END = m.CodeEnd("r1", "ok", 3.0)


def at_work(text: str = "sort my files") -> Scene:
    """Code runs for what somebody asked aloud."""
    s = Scene()
    s.join()
    s.say(text)
    s.happens(events.AgentMessage(s.ticket, "acting", START))
    return s


def kept(s: Scene, device: str = "laptop", *, spoken: bool = True) -> None:
    """The words that were passed on are in the log."""
    s.happens(events.SteerKept(s.ticket, device, spoken))


def announced(s: Scene, device: str = "laptop") -> list[str]:
    return [each.text for each in s.told(m.Announce, device)]


def spoken(s: Scene) -> list[str]:
    return [each.text.strip() for each in s.all(effects.Speak)]


def asked() -> Scene:
    """Code waits for a yes."""
    s = Scene()
    s.join()
    s.say("sort my files")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", QUESTION))
    s.happens(events.QuestionShown("laptop", QUESTION.id))
    s.synthesize("May I run this?", 1.0)
    s.play(2.2)
    return s
