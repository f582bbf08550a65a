"""Which system calls confined code may not make, and what it hears instead: nothing but data.

What goes beyond the sandbox is refused everywhere: other processes' memory, the kernel's own
workings, mounts and namespaces. Beyond that it depends on what the sandbox has of its own:
bubblewrap gives it a network, a process tree and a file system, Landlock only watches over files.
"""

import errno
from dataclasses import dataclass
from typing import Literal

ASK = -1
"""Instead of an error: the guard outside decides, and may act in the code's place."""

WHOLE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Test:
    """A look at half of an argument, which is true or not."""

    argument: int
    true_if: Literal["it is one of", "it is none of", "it has any bit of"]
    values: tuple[int, ...]
    mask: int = WHOLE
    half: Literal["low", "high"] = "low"
    """An int is the low half; a pointer is both."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A call that is refused with an error: always, or if any of its tests is true."""

    call: str
    error: int
    tests: tuple[Test, ...] = ()
    given: tuple[Test, ...] = ()
    """Unless all of these are true, the rule says nothing."""


def _all(error: int, *calls: str) -> tuple[Rule, ...]:
    return tuple(Rule(call, error) for call in calls)


_NEW_NAMESPACE = 0x7E020000
"""CLONE_NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWNS, together."""

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCKET_TYPE = 1, 5, 0xF
_PROTOCOLS = (0, 1, 6, 17)
"""The usual one, UNIX, TCP and UDP."""
_STREAM_PROTOCOLS = (0, 1, 6)
"""The same without UDP; and without SCTP and Multipath TCP, which Landlock does not know."""
_MSG_FASTOPEN = 0x20000000
_SET_ID = 0o6000
"""S_ISUID and S_ISGID: a user who runs such a file gets its owner's rights."""
_CREATING = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: only then is there a mode."""

_REQUEST_KIND = 0xFF00
"""The part of an ioctl's request that says whose it is."""
_OF_TERMINALS, _OF_SOCKETS = 0x5400, 0x8900
"""Those of asm-generic/ioctls.h, for any descriptor too, and those of linux/sockios.h."""
_HARMLESS_REQUESTS = (
    0x2,  # FIGETBSZ
    0x80086601,  # FS_IOC_GETFLAGS
    0x801C581F,  # FS_IOC_FSGETXATTR
    0xC020660B,  # FS_IOC_FIEMAP
    0x40049409,  # FICLONE, which needs a descriptor for writing, as the next two
    0x4020940D,  # FICLONERANGE
    0xC0189436,  # FIDEDUPERANGE
)
"""Requests to a file that read, or write where the code has opened it for writing."""
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
"""The first two put characters into a terminal's input, as if a person had typed them; the third
loads modules of the kernel."""

_F_SETLEASE, _F_NOTIFY = 1_024, 1_026
"""A lease makes others wait who open the file; a notice tells who changes what is in a folder."""

_RLIMIT_CORE = 4

_PRIO_USER, _IOPRIO_WHO_USER = 2, 3

EVERYWHERE: tuple[Rule, ...] = (
    # Other processes.
    *_all(
        errno.EPERM, "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
        "pidfd_getfd", "migrate_pages", "move_pages", "perf_event_open", "userfaultfd",
    ),
    # The kernel.
    *_all(
        errno.EPERM, "bpf", "init_module", "finit_module", "delete_module", "create_module",
        "kexec_load", "kexec_file_load", "keyctl", "add_key", "request_key", "acct", "syslog",
        "reboot", "swapon", "swapoff", "settimeofday", "clock_settime", "sethostname",
        "setdomainname", "iopl", "ioperm", "lookup_dcookie", "quotactl", "quotactl_fd",
        "fanotify_init", "vhangup",
    ),
    # Mounts and namespaces.
    *_all(
        errno.EPERM, "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr",
        "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare",
        "setns", "name_to_handle_at", "open_by_handle_at",
    ),
    Rule("clone", errno.EPERM, (Test(0, "it has any bit of", (_NEW_NAMESPACE,)),)),
    # As if the kernel did not have them. The C library then uses `clone`, whose flags a filter can
    # see; those of `clone3` lie in memory. io_uring would do, unseen, what a filter forbids.
    *_all(errno.ENOSYS, "clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    Rule("ioctl", errno.EPERM, (Test(1, "it is one of", (_TIOCSTI, _TIOCLINUX, _TIOCSETD)),)),
    # Many requests to a file change it through a descriptor that was opened to read, and every file
    # system has some of its own. So all but those that are known are refused.
    Rule(
        "ioctl",
        errno.ENOTTY,
        (Test(1, "it is none of", _HARMLESS_REQUESTS),),
        (Test(1, "it is none of", (_OF_TERMINALS, _OF_SOCKETS), _REQUEST_KIND),),
    ),
    # Programs that run with the rights of the server's user, in each call that gives a file a mode.
    # That of `openat2` lies in memory; the C library uses `openat`.
    Rule("openat2", errno.ENOSYS),
    *(
        Rule(call, errno.EPERM, (Test(mode, "it has any bit of", (_SET_ID,)),))
        for call, mode in (
            ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("creat", 1),
            ("mkdir", 1), ("mkdirat", 2), ("mknod", 1), ("mknodat", 2),
        )
    ),
    *(
        Rule(
            call,
            errno.EPERM,
            (Test(flags + 1, "it has any bit of", (_SET_ID,)),),
            (Test(flags, "it has any bit of", (_CREATING,)),),
        )
        for call, flags in (("open", 1), ("openat", 2))
    ),
    # What a person's programs would have to wait for, through a descriptor that was opened to read.
    Rule("fcntl", errno.EPERM, (Test(1, "it is one of", (_F_SETLEASE, _F_NOTIFY)),)),
    # The limit that keeps a crash from being handed to a program of the host's (launcher.py).
    *(
        Rule(
            call,
            errno.EPERM,
            (Test(new, "it is none of", (0,)), Test(new, "it is none of", (0,), half="high")),
            (Test(new - 1, "it is one of", (_RLIMIT_CORE,)),),
        )
        for call, new in (("setrlimit", 1), ("prlimit64", 2))
    ),
)  # fmt: skip

_NAMESPACES_OF_OTHERS = _NEW_NAMESPACE & ~0x70000000
"""All but CLONE_NEWUSER, NEWPID and NEWNET, of which a browser makes a sandbox for its pages."""

WITH_A_SANDBOX_INSIDE: tuple[Rule, ...] = (
    *(rule for rule in EVERYWHERE if rule.call not in ("clone", "unshare", "chroot")),
    *(
        Rule(call, errno.EPERM, (Test(0, "it has any bit of", (_NAMESPACES_OF_OTHERS,)),))
        for call in ("clone", "unshare")
    ),
)
"""Instead of what is refused everywhere, for a program that confines what it runs by namespaces of
users, processes and networks, and by an empty root. It mounts nothing, and makes no other."""

# Sockets are refused with EOPNOTSUPP: libzmq aborts the process on any error but "this machine has
# no such sockets".

IN_ITS_OWN_WORLD: tuple[Rule, ...] = (
    # TCP and UDP reach the sandbox alone; programs and their children talk so. The families that no
    # namespace holds (vsock, Bluetooth and others) are refused.
    Rule(
        "socket",
        errno.EOPNOTSUPP,
        (
            Test(0, "it is none of", (_AF_UNIX, _AF_INET, _AF_INET6)),
            Test(2, "it is none of", _PROTOCOLS),
        ),
    ),
    Rule("socketpair", errno.EOPNOTSUPP, (Test(0, "it is none of", (_AF_UNIX,)),)),
    # A UNIX socket of the host's may lie in a granted folder, and what shows a folder read-only
    # leaves its sockets open. A datagram goes to an address in memory, so there are no such UNIX
    # sockets; SOCK_RAW is another name for them. The guard makes all connections, and those of UNIX
    # sockets only to what lies in the sandbox's own memory.
    *(
        Rule(
            call,
            errno.EOPNOTSUPP,
            (Test(1, "it is none of", (_SOCK_STREAM, _SOCK_SEQPACKET), _SOCKET_TYPE),),
            (Test(0, "it is one of", (_AF_UNIX,)),),
        )
        for call in ("socket", "socketpair")
    ),
    Rule("connect", ASK),
)
"""For a sandbox with a network, processes and files of its own."""

IN_SIGHT_OF_THE_HOST: tuple[Rule, ...] = (
    # No sockets but streams: UNIX ones, which may be bound and accepted from, as a kernel does, and
    # TCP ones, which the guard connects to the network proxy and to nothing else. Datagram sockets
    # reach a path without connect(), by the address in sendmsg(), which lies in memory; SOCK_RAW is
    # another name for them. So whatever is no stream is refused.
    *(
        Rule(
            call,
            errno.EOPNOTSUPP,
            (
                Test(0, "it is none of", families),
                Test(1, "it is none of", (_SOCK_STREAM,), _SOCKET_TYPE),
                Test(2, "it is none of", _STREAM_PROTOCOLS),
            ),
        )
        for call, families in (("socket", (_AF_UNIX, _AF_INET)), ("socketpair", (_AF_UNIX,)))
    ),
    # The guard knows whose socket it is. A TCP socket would listen on the host without being bound,
    # and Landlock lets it.
    *_all(ASK, "connect", "listen"),
    # TCP Fast Open: sending to an address makes the connection, too.
    *(
        Rule(call, errno.EOPNOTSUPP, (Test(argument, "it has any bit of", (_MSG_FASTOPEN,)),))
        for call, argument in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3))
    ),
    # What can be asked and set about the host's network through any TCP socket.
    Rule("ioctl", errno.EPERM, (Test(1, "it is one of", (_OF_SOCKETS,), _REQUEST_KIND),)),
    # The limits and priorities of our user's other processes; the guard knows which are its own.
    *(
        Rule(call, ASK, (Test(0, "it is none of", (0,)),))
        for call in (
            "prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam",
            "sched_setscheduler",
        )
    ),
    *(
        Rule(call, error, (test,))
        for call, user in (("setpriority", _PRIO_USER), ("ioprio_set", _IOPRIO_WHO_USER))
        for error, test in (
            (errno.EPERM, Test(0, "it is one of", (user,))),
            (ASK, Test(1, "it is none of", (0,))),
        )
    ),
    # Memory, messages and semaphores that our user's other programs share by number or name.
    *_all(
        errno.ENOSYS, "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl",
        "semget", "semop", "semtimedop", "semctl", "mq_open", "mq_unlink",
    ),
    # Landlock does not govern the attributes of a file, nor who is told of its changes; and a
    # descriptor changes them that was opened to read. Modes and times are needed so often that the
    # guard sets them, for files in reach. What extended attributes say can be read by path, without
    # opening the file.
    *_all(
        ASK, "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat",
        "utimensat",
    ),
    *_all(errno.EPERM, "chown", "fchown", "lchown", "fchownat"),
    *_all(
        errno.EOPNOTSUPP, "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
        "lremovexattr", "fremovexattr", "removexattrat", "file_setattr", "getxattr", "lgetxattr",
        "getxattrat", "listxattr", "llistxattr", "listxattrat", "file_getattr",
    ),
    *_all(errno.ENOSYS, "inotify_init", "inotify_init1"),
)  # fmt: skip
"""For a sandbox that sees the host's network, processes and paths."""
