"""Errors about sound. The text of each is one sentence: what happened, and what to do next.

AudioError
├── BadSound              a file that is not sound we can read
├── NoPortAudio           the system library for sound devices is missing
├── DeviceUnavailable     no such microphone or loudspeaker, or it does not open
└── NotInstalled          a package that this needs is not there
"""


class AudioError(Exception):
    """The root of this room's errors."""


class BadSound(AudioError):
    """A file does not hold sound that we can read, or cannot be written."""


class NoPortAudio(AudioError):
    """PortAudio is not installed, so there are no sound devices."""


class DeviceUnavailable(AudioError):
    """The device is not there, is taken, or does not open."""


class NotInstalled(AudioError):
    """A package for something that not every client does is not installed."""
