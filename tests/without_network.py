"""Runs a command in a network that has no outside: `python tests/without_network.py COMMAND…`

A fresh network namespace has a loopback and nothing else, so that whatever goes out fails at once,
in whichever process and language. Where the system does not allow that (not Linux, not root), the
command runs as it is and the fences of tests/network_guard.py are the only ones.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1


def leave_the_network() -> bool:
    """Give this process and its children a network of loopback alone; tells whether that worked."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
    return True


if __name__ == "__main__":
    outside = os.open("/proc/self/ns/net", os.O_RDONLY) if sys.platform == "linux" else -1
    if leave_the_network():
        os.environ["SAYSO_TEST_NETLESS"] = "yes"
        # For the one test that is there to fetch something (tests/bare_machine.py).
        os.set_inheritable(outside, True)
        os.environ["SAYSO_TEST_OUTSIDE"] = f"/proc/{os.getpid()}/fd/{outside}"
    os.execvp(sys.argv[1], sys.argv[1:])
