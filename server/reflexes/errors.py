"""What can go wrong with reflexes. Each text is one sentence for the person."""


class ReflexError(Exception):
    """A reflex could not be had or could not be kept."""


class LanguageMissing(ReflexError):
    """There is no file of sentences for this language."""


class LanguageDamaged(ReflexError):
    """A file of sentences lacks something, or holds what cannot be understood."""


class TooMany(ReflexError):
    """So many timers and reminders are open that no further one is taken on."""


class TooFar(ReflexError):
    """It is due later than a reminder is promised."""
