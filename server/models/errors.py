"""What can be wrong with models. Each error's text is one sentence for the person."""


class ModelError(Exception):
    """A model cannot be used; the text says why, and what to do."""


class ModelMissing(ModelError):
    """The model is not on this machine."""


class ModelDamaged(ModelError):
    """A file of the model is missing, or does not hold what it should."""


class NameUnknown(ModelError):
    """No model can be meant by this name."""


class FetchFailed(ModelError):
    """The hub could not be reached, or did not give what it promised. What was here still is."""
