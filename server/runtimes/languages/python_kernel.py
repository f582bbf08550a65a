"""The Python kernel as it runs in the sandbox: ipykernel, in a place without terminal or keyboard.

The kernels' own Python runs this file as a script; the server never imports it. It changes nothing
of what runs in a cell. It sees to it that what programs print arrives: whole, in order, and before
the run that started them ends. It gives `!command` an empty standard input, so that a command which
asks for something ends at once instead of waiting for ever. An interrupt reaches the threads that
the run has started, too: the run is over when they are; and it meets the code alone, never the
kernel's own work. A process that the code forks ends where the code does, and is no second kernel.
"""

import builtins
import codecs
import contextlib
import ctypes
import faulthandler
import importlib.util
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_READ_BYTES = 64 * 1024
"""As much as a pipe holds."""

_SETTLE_BYTES = 4 * 1024**2
"""The most that a run waits for at its end: a program left behind may print for ever."""

_PRINTED_CHARACTERS = 32 * 1024
"""Of printed text in one message."""

_STOP_S = 1.0
"""How long a command may take to end after an interrupt, before it is killed."""


_ASK_AGAIN_S = 0.05
"""How often threads are asked to stop: one that was in the middle of a call may not have heard."""

_WAITING_IN = (
    "/threading.py", "/queue.py", "/concurrent/futures/thread.py", "/zmq/utils/garbage.py",
)  # fmt: skip
"""Where a thread that only waits for others stands: a pool's workers that have nothing to do."""


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


class Interrupts:
    """Lets an interrupt meet the code of a run, in all its threads, and nothing else.

    ipykernel lets it meet whatever is done for a request: an answer would be left half sent, and
    take the next one along, or the kernel would leave its loop.
    If a thread does not end, the run does not either, and the server ends the whole interpreter.
    """

    def __init__(self) -> None:
        self.asked = False
        """Whether what runs was asked to stop."""
        self._earlier: set[int] = set()

    def begin(self) -> None:
        """Begin a run: threads that are there already are not its own."""
        self.asked = False
        self._earlier = set(_frames())

    def listen(self) -> None:
        """Deliver interrupts to the code from now on."""
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # or ipykernel cancels what awaits
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def ignore(self) -> None:
        """Deliver no interrupts any more; one that has come already is dropped."""
        while True:
            with contextlib.suppress(KeyboardInterrupt):
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                return

    def end_threads(self) -> None:
        """Return when the run has ended in all its threads, if it was asked to stop."""
        while self.asked and (busy := self._busy()):
            for thread in busy:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
                )
            time.sleep(_ASK_AGAIN_S)

    def _busy(self) -> list[int]:
        """The threads that this run has started and that do more than wait."""
        return [
            thread
            for thread, frame in _frames().items()
            if thread not in self._earlier and not frame.f_code.co_filename.endswith(_WAITING_IN)
        ]


def _frames() -> dict[int, FrameType]:
    """Where each thread is, those included that nobody has registered."""
    return sys._current_frames()  # noqa: SLF001 - there is no other way


def main() -> None:
    """Run the kernel that the command line describes, until it is told to end."""
    if Path(sys.path[0]) == Path(__file__).parent:
        del sys.path[0]
    import zmq
    from ipykernel.kernelapp import IPKernelApp

    interrupts = Interrupts()

    def mark(number: int) -> None:
        """Bring all that was printed to the server, and a number after it."""
        settle()
        sys.stdout.flush()
        sys.stderr.flush()
        kernel.session.send(kernel.kernel.iopub_socket, "sayso_mark", {"mark": number})

    functions = _preloaded("sayso")
    functions.connect(int(sys.argv[1]), mark)
    _preloaded("browser_names").use(functions)
    computer = _preloaded("computer")
    stream = _streams()
    complaints = os.fdopen(os.dup(2), "w")
    kernel = IPKernelApp.instance(
        capture_fd_output=False, kernel_class=_kernels(interrupts, functions)
    )
    # The home vanishes with the kernel, and so may the history of what was run in it. What lies in
    # the workspace takes no part in the start.
    options = ("--HistoryManager.hist_file=:memory:", "--InteractiveShellApp.ignore_cwd=True")
    kernel.initialize([*sys.argv[2:], *options])
    kernel.session.pack = _packer(kernel.session.pack)
    _let_find_what_code_made()
    faulthandler.enable(complaints)  # what is said while it crashes goes to the server, not in here
    sys.stdout = stream(kernel.session, kernel.iopub_thread, "stdout", watchfd=False)
    sys.stderr = stream(kernel.session, kernel.iopub_thread, "stderr", watchfd=False)
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
    for end in (interrupts.end_threads, settle, interrupts.listen):  # others draw plots then
        kernel.shell.events.register("post_execute", end)
    kernel.shell.system = run
    builtins.sayso = functions  # type: ignore[attr-defined]
    builtins.mcp = functions.mcp  # type: ignore[attr-defined]
    builtins.computer = computer  # type: ignore[attr-defined]
    builtins.browser = computer.browser  # type: ignore[attr-defined]
    kernel.shell.run_ast_nodes = _code_alone(kernel.shell, interrupts)
    os.register_at_fork(after_in_child=partial(_print_plainly, kernel.shell))
    kernel.start()


def _packer(pack: Callable[[object], bytes]) -> Callable[[object], bytes]:
    """Return what writes messages, also of texts with halves of characters, which no screen has."""

    def packed(message: object) -> bytes:
        try:
            return pack(message)
        except UnicodeEncodeError:
            return pack(whole(message))

    def whole(value: object) -> object:
        if isinstance(value, str):
            return value.encode(errors="replace").decode()
        if isinstance(value, dict):
            return {whole(name): whole(one) for name, one in value.items()}
        return [whole(one) for one in value] if isinstance(value, list | tuple) else value

    return packed


def _preloaded(name: str) -> Any:  # noqa: ANN401
    """Return one of the modules with Sayso's functions, which code finds under its name."""
    path = Path(__file__).parents[1] / "calls" / "preloaded" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _streams() -> Any:  # noqa: ANN401
    """Return what stands for the kernel's standard output and errors."""
    from ipykernel.iostream import OutStream

    class Stream(OutStream):  # type: ignore[misc]
        """Printed text; flush() sends all of it.

        ipykernel's own returns when the thread that sends has been told of the text, which it sends
        a moment later: not at all while one long step of the code keeps it from running.
        """

        def flush(self) -> None:
            super().flush()
            sender = self.pub_thread
            if sender and sender.thread is not threading.current_thread():
                sent = threading.Event()
                sender.schedule(sent.set)  # what was told before is sent before
                sent.wait(self.flush_timeout)

        def _flush_buffers(self) -> Iterator[tuple[dict[str, object], str]]:
            """Print a long text as several messages, none of which is too long to be read."""
            for parent, text in super()._flush_buffers():
                for start in range(0, len(text), _PRINTED_CHARACTERS):
                    yield parent, text[start : start + _PRINTED_CHARACTERS]

    return Stream


def _kernels(interrupts: Interrupts, functions: Any) -> Any:  # noqa: ANN401
    """Return the kernel's class."""
    from ipykernel.ipkernel import IPythonKernel

    own = os.getpid()

    class Kernel(IPythonKernel):  # type: ignore[misc]
        """A kernel that knows whether it was asked to stop, and that only code is interrupted."""

        def pre_handler_hook(self) -> None:
            """Leave interrupts ignored: what is done for a request is not all code."""

        def post_handler_hook(self) -> None:
            interrupts.ignore()
            if os.getpid() != own:
                os._exit(1)  # it was forked, and missed where it should have left

        def raw_input(self, prompt: str = "") -> str:
            try:
                return str(functions.ask(prompt))
            except functions.NotThereError:
                return str(super().raw_input(prompt))  # which says that nobody can type here

        async def interrupt_request(self, *request: object) -> None:
            interrupts.asked = True
            await super().interrupt_request(*request)

        async def execute_request(self, *request: Any) -> None:  # noqa: ANN401
            interrupts.begin()
            functions.begin(request[-1]["header"]["msg_id"])
            await super().execute_request(*request)

        async def do_execute(self, *code: object, **how: object) -> dict[str, object]:
            try:
                try:
                    done: dict[str, object] = await super().do_execute(*code, **how)
                finally:
                    interrupts.ignore()
            except KeyboardInterrupt:  # it met what is done when the code has ended
                interrupts.ignore()
                told = {"status": "error", "ename": "KeyboardInterrupt", "evalue": ""}
                done = {**told, "traceback": [], "execution_count": self.execution_count}
            return done

    return Kernel


def _code_alone(shell: Any, interrupts: Interrupts) -> Callable[..., Awaitable[bool]]:  # noqa: ANN401
    """Return what runs a cell's code: only that is interrupted, and a process forked in it ends
    there."""
    kernel, run = os.getpid(), shell.run_ast_nodes

    async def run_ast_nodes(*code: object, result: Any, **how: object) -> bool:  # noqa: ANN401
        try:
            try:
                interrupts.listen()
                if interrupts.asked:  # before there was anything to meet
                    signal.raise_signal(signal.SIGINT)
                raised: bool = await run(*code, result=result, **how)
            finally:
                interrupts.ignore()
        except KeyboardInterrupt as error:
            interrupts.ignore()
            result.error_in_exec, raised = error, True
            shell.showtraceback()
        if os.getpid() != kernel:
            _leave(result.error_before_exec or result.error_in_exec)
        return raised

    return run_ast_nodes


def _leave(error: BaseException | None) -> NoReturn:
    """End a forked process as its program would end. In the kernel's loop, it would take from the
    kernel what wakes it up, and the next request would stay unread."""
    code = getattr(error, "code", 1) if error else 0  # that of sys.exit()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


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


def _print_plainly(shell: Any) -> None:  # noqa: ANN401
    """Let a forked child print to the descriptors: the kernel's sockets stay with the kernel."""
    sys.stdout = open(1, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115

    def show(_kind: object, _error: object, lines: Sequence[str]) -> None:
        sys.stderr.write("\n".join((*lines, "")))

    shell._showtraceback = show  # noqa: SLF001 - how ipykernel, too, tells where errors go


if __name__ == "__main__":
    main()
