"""The log of the server: times, levels and sentences, and never a secret."""

import logging

from sayso.server.store.redaction import redacted


class DiscreetFormatter(logging.Formatter):
    """Whatever is logged, by whichever library, passes here last: secrets are taken out."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def write_log(level: str) -> None:
    """Log to standard error from here on."""
    logging.getLogger("sayso.websockets").setLevel(logging.WARNING)
    handler = logging.StreamHandler()
    handler.setFormatter(DiscreetFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
