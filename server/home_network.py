"""Which addresses lie at home: on this machine, or in a private network."""

import ipaddress

HOME_SUFFIXES = (".local", ".lan", ".home.arpa")
"""Names that no name server outside a home answers for."""


def is_at_home(host: str) -> bool:
    """Whether an address lies on this machine or in a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(HOME_SUFFIXES)
    return address.is_private
