"""The Python kernel as it runs in the sandbox: ipykernel, in a place without terminal or keyboard.

The kernels' own Python runs this file as a script; the server never imports it. It changes nothing
of what runs in a cell. It sees to it that what programs print arrives: whole, in order, and before
the run that started them ends. And it gives `!command` an empty standard input, so that a command
which asks for something ends at once instead of waiting for ever.
"""

import codecs
import contextlib
import faulthandler
import importlib
import os
import select
import subprocess
import sys
import threading
from pathlib import Path

_READ_BYTES = 64 * 1024
"""As much as a pipe holds."""

_SETTLE_BYTES = 4 * 1024**2
"""The most that a run waits for at its end: a program left behind may print for ever."""

_STOP_S = 1.0
"""How long a command may take to end after an interrupt, before it is killed."""


class Capture:
    """Brings what programs write to a descriptor to the stream that Python's own prints go to."""

    def __init__(self, descriptor: int, stream: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._busy = threading.Lock()
        self._end, written = os.pipe()
        os.set_blocking(self._end, False)
        os.dup2(written, descriptor)
        os.close(written)
        threading.Thread(target=self._watch, name=f"sayso-{stream}", daemon=True).start()

    def settle(self) -> None:
        """Return when everything that was written until now has been brought over."""
        with self._busy, contextlib.suppress(BlockingIOError):
            for _ in range(_SETTLE_BYTES // _READ_BYTES):
                said = self._decoder.decode(os.read(self._end, _READ_BYTES))
                getattr(sys, self._stream).write(said)

    def _watch(self) -> None:
        waiting = select.poll()
        waiting.register(self._end, select.POLLIN)
        while True:
            waiting.poll()
            self.settle()


def main() -> None:
    """Run the kernel that the command line describes, until it is told to end."""
    if Path(sys.path[0]) == Path(__file__).parent:
        del sys.path[0]
    import zmq
    from ipykernel.kernelapp import IPKernelApp

    complaints = os.fdopen(os.dup(2), "w")
    kernel = IPKernelApp.instance(capture_fd_output=False)
    # The home vanishes with the kernel, and so may the history of what was run in it. What lies in
    # the workspace takes no part in the start.
    options = ("--HistoryManager.hist_file=:memory:", "--InteractiveShellApp.ignore_cwd=True")
    kernel.initialize([*sys.argv[1:], *options])
    _let_find_what_code_made()
    faulthandler.enable(complaints)  # what is said while it crashes goes to the server, not in here
    captures = [Capture(1, "stdout"), Capture(2, "stderr")]

    def settle() -> None:
        for capture in captures:
            capture.settle()

    def run(command: str) -> None:
        shell = kernel.shell
        code = _run(shell.var_expand(command, depth=1))
        settle()
        shell.user_ns["_exit_code"] = code

    # Where outputs come faster than they are taken, the code waits; or else some would be dropped,
    # and with them, perhaps, the word that the run is over. The socket belongs to its thread.
    outputs = kernel.iopub_thread
    outputs.io_loop.add_callback(lambda: outputs.socket.setsockopt(zmq.XPUB_NODROP, 1))
    kernel.shell.events.register("pre_execute", _look_again)
    kernel.shell.events.register("post_execute", settle)
    kernel.shell.system = run
    os.register_at_fork(after_in_child=_print_plainly)
    kernel.start()


def _run(command: str) -> int:
    """Run `!command` as any program starts another; return its exit code."""
    shell = os.environ.get("SHELL", "/bin/sh")
    with subprocess.Popen([shell, "-c", command], stdin=subprocess.DEVNULL) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The interrupt was for everyone in this group, the command too.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_S)
            process.kill()
            raise


def _let_find_what_code_made() -> None:
    """Let imports find the code's own folder and what it installed, behind the standard library."""
    startup = importlib.import_module("sitecustomize")
    own = ["", *filter(None, [os.environ.get(startup.PACKAGES)])]
    place = startup.place_for_packages()
    sys.path[place:place] = own


def _look_again() -> None:
    """Let imports find a folder that was missing when Python first looked: a first install."""
    for path, finder in list(sys.path_importer_cache.items()):
        if finder is None:
            del sys.path_importer_cache[path]


def _print_plainly() -> None:
    """Let a forked child print to the descriptors: the kernel's sockets stay with the kernel."""
    sys.stdout = open(1, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115


if __name__ == "__main__":
    main()
