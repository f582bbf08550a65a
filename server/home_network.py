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


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
