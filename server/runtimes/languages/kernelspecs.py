"""Every installed Jupyter kernel is a language, without any code of ours.

A kernel may read what it is made of: the prefix in which its program lies, and the folder of its
description. A prefix that holds a person's own things as well (their home, `~/.local`) is not
opened as a whole.
"""

import logging
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager

from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.kernels.kernel import Kernel
from sayso.server.runtimes.language import PACKAGES_COME, Place
from sayso.server.runtimes.persistent_runtime import PersistentRuntime
from sayso.server.runtimes.sandbox.sandbox import SEARCH_PATH, SYSTEM

log = logging.getLogger(__name__)

_KERNELS = Path("share", "jupyter", "kernels")
"""Where a prefix keeps its kernels' descriptions."""

_OF_A_PREFIX = ("lib", "lib64", "libexec", "share", "include")
"""What stands beside `bin` in a folder that programs are installed to."""


@dataclass(frozen=True, slots=True)
class InstalledKernel:
    """A kernel that somebody installed for Jupyter."""

    name: str
    aliases: tuple[str, ...]
    argv: tuple[str, ...]
    """`{connection_file}` stands for the file that tells a kernel its sockets."""
    readable: tuple[Path, ...]
    """What it is made of."""
    variables: Mapping[str, str]
    by_signal: bool
    """Whether it is interrupted by a signal; else by a message."""

    def runtime(self, place: Place) -> PersistentRuntime:
        confines = place.with_environment(*self.readable)
        # Nothing that code installed stands in for what such a kernel is made of.
        variables = {**place.variables, PACKAGES_COME: "last", **self.variables}

        async def start() -> Kernel:
            return await Kernel.start(
                place.sandbox, self.argv, variables, confines, by_signal=self.by_signal
            )

        return PersistentRuntime(self.name, start, place.watch)


def installed_kernels(
    environment: KernelEnvironment, taken: Collection[str]
) -> Iterator[InstalledKernel]:
    """Each kernel that this machine or the kernels' own environment has, under a name that is not
    taken. Reads files, so call it in a thread."""
    manager = KernelSpecManager(ensure_native_kernel=False)
    manager.kernel_dirs = [str(environment.folder / _KERNELS), *manager.kernel_dirs]
    names = set(taken)
    for spec_name, found in sorted(manager.get_all_specs().items()):
        kernel = _read(spec_name, found["resource_dir"], found["spec"], names)
        if kernel:
            names.update((kernel.name, *kernel.aliases))
            yield kernel


def _read(
    spec_name: str, resources: str, spec: Mapping[str, Any], taken: Collection[str]
) -> InstalledKernel | None:
    argv = [str(part) for part in spec.get("argv") or ()]
    language = str(spec.get("language") or spec_name).strip().lower()
    free = [name for name in (language, spec_name.lower()) if name not in taken]
    program = shutil.which(argv[0], path=":".join(SEARCH_PATH)) if argv else None
    if not free or spec_name.lower() in taken:
        return None  # there is that language already
    if not program:
        log.warning("the kernel %s is left out, because its program is not there", spec_name)
        return None
    argv = [part.replace("{resource_dir}", resources) for part in (program, *argv[1:])]
    own = {str(name): str(value) for name, value in (spec.get("env") or {}).items()}
    return InstalledKernel(
        name=free[0],
        aliases=tuple(free[1:]),
        argv=tuple(argv),
        readable=(Path(resources), *_made_of(Path(program)), *_named(argv[1:])),
        variables=own,
        by_signal=spec.get("interrupt_mode") != "message",
    )


def _made_of(program: Path) -> Iterator[Path]:
    """The folders in which a program's own files lie, before and after links are followed."""
    for path in dict.fromkeys((program, program.resolve())):
        prefix = path.parent.parent
        if any(path.is_relative_to(each) for each in SYSTEM):
            continue
        if path.parent.name != "bin" or _is_a_persons(prefix):
            yield path
        elif any((prefix / name).is_dir() for name in _OF_A_PREFIX):
            yield prefix
        else:
            yield path.parent


def _named(arguments: Sequence[str]) -> Iterator[Path]:
    """Files that a kernel is started with, such as its script."""
    for argument in arguments:
        path = Path(argument)
        if path.is_absolute() and path.is_file():
            yield path


def _is_a_persons(prefix: Path) -> bool:
    """Whether a folder may also hold files that belong to no program."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - Path.home() raises without one
    place = prefix.resolve()
    return home.is_relative_to(place) or place == home / ".local"
