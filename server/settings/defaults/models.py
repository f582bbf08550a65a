"""The settings of `[models]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Models:
    """Where further models come from."""

    hub: str = "https://huggingface.co"
    """Address of the hub that `sayso models get` fetches from. The environment's `HF_ENDPOINT` does
    the same, and yields to this setting."""
