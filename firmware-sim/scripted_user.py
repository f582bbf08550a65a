"""Plays a user at the button: presses at a given time, speaks a recording and lets go.

The contacts chatter as contacts do.
"""

from sayso.firmware_sim.program.capture import FRAME_SAMPLES
from sayso.firmware_sim.program.device import Device
from sayso.firmware_sim.scene import Scene
from sayso.protocol.frames import PCM16_BYTES

FRAME_BYTES = FRAME_SAMPLES * PCM16_BYTES

BOUNCES = (True, False, True, False, True)
"""How the contacts chatter when the button is pressed or let go, one level after the other."""
BOUNCE_STEP_S = 0.002

LEANS_S = 7.0
"""A bit longer than becoming factory-fresh takes."""


class Hand:
    """Plays a scene, once per boot of the device."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._said = 0
        self._up_since: float | None = None
        self._level = False
        self._leans_until = 0.0
        self.let_go = False
        """What was to be said is said."""

    @property
    def waits(self) -> bool:
        """There is something that is not said yet."""
        return bool(self._scene.say) and not self.let_go

    def lean(self, now: float) -> None:
        """Somebody leans on the button."""
        self._leans_until = now + LEANS_S

    def begin_anew(self) -> None:
        """A person whose device has started anew says it once more."""
        self._said, self._up_since, self._level, self.let_go = 0, None, False, False

    def move(self, device: Device, now: float) -> None:
        """Hold the button, or do not."""
        if device.is_up and self._up_since is None:
            self._up_since = now
        level = self._wants(now)
        if level != self._level:
            self._level = level
            for step, bounce in enumerate(BOUNCES):
                device.level(bounce == level, now + step * BOUNCE_STEP_S)
            self.let_go = not level
        device.level(level, now + len(BOUNCES) * BOUNCE_STEP_S)

    def speak(self, device: Device) -> bytes:
        """The next 20 ms that the microphone hears: words, from when the light says that it
        listens, and whether it still does or not; then silence."""
        if not device.records and not self._said:
            return bytes(FRAME_BYTES)
        piece = self._scene.say[self._said : self._said + FRAME_BYTES]
        self._said += len(piece)
        return piece + bytes(FRAME_BYTES - len(piece))

    def _wants(self, now: float) -> bool:
        if now < self._leans_until:
            return True
        if self._up_since is None or self.let_go:
            return False
        return now - self._up_since >= self._scene.start_at and self._said < len(self._scene.say)
