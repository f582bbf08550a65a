"""What goes wrong with a screen; each message is a sentence that says what to do next."""


class DesktopError(Exception):
    """Nothing was done: nobody allowed it, or no screen is here."""
