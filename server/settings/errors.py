"""What can be wrong with settings. Each error's text is one sentence for the person."""


class SettingsError(Exception):
    """A setting cannot be used; the text says where it stands, what is wrong, what is allowed."""


class UnknownKey(SettingsError):
    """No setting has this name."""


class WrongValue(SettingsError):
    """A value of the wrong type, or out of bounds."""


class NotByProject(SettingsError):
    """A project's file names a setting that only the person decides."""


class UnusableFile(SettingsError):
    """A settings file that cannot be read, is no TOML, or cannot be edited without loss."""
