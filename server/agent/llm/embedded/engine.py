"""The process of the embedded language model: llama.cpp, serving the OpenAI wire on loopback.

Started by `process.py` as `python -m sayso.server.agent.llm.embedded.engine`. It reads one line
of JSON from standard input (so that the key is on no command line), answers with one line of JSON,
and then waits for its input to end: that is how it learns that its parent is gone, on any system
and however the parent died. On Linux the kernel kills it as well.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping

PR_SET_PDEATHSIG = 1

HTTP_THREADS = 4
"""Requests served at once: one that generates, and a few that ask how it is."""

PROMPT_CACHE_MB = 128
"""Memory for prompts already read; the library's default of 8 GB is meant for servers."""


def main() -> None:
    orders = json.loads(sys.stdin.readline())
    _die_with(int(orders["parent"]))
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the library prints belongs with its complaints
    server = None
    try:
        server, address = _serve(orders)
        answer = {"address": address}
    except ImportError as error:
        answer = {"trouble": "no engine", "detail": str(error)}
    except AttributeError as error:
        answer = {"trouble": "other engine", "detail": str(error)}
    except RuntimeError as error:
        answer = {"trouble": "unusable weights", "detail": str(error)}
    report.write(json.dumps(answer) + "\n")
    report.flush()
    if server:
        sys.stdin.read()
        os._exit(0)  # at once: nothing here is worth saving, and the library's threads still run
    # Otherwise as usual: a thread of the library's writes its complaints, and ends when that is
    # done.


def _serve(orders: Mapping[str, object]) -> tuple[object, str]:
    """The running server, which lives as long as it is referred to, and its address."""
    engine = importlib.import_module("xllamacpp")
    parameters = engine.CommonParams()
    parameters.model.path = orders["weights"]
    parameters.model_alias = {orders["alias"]}
    parameters.n_ctx = orders["context_tokens"]
    parameters.n_parallel = 1
    parameters.fit_params = False
    parameters.cpuparams.n_threads = orders["threads"]
    parameters.cpuparams_batch.n_threads = orders["threads"]
    parameters.n_threads_http = HTTP_THREADS
    parameters.cache_ram_mib = PROMPT_CACHE_MB
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    # The library's defaults let any web page in a browser on this machine talk to it.
    parameters.api_keys = [orders["key"]]
    parameters.cors_origins = ""
    parameters.cors_origins_explicit = True
    parameters.cors_credentials = False
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.verbosity = 1  # errors alone: at further levels it would write what is said
    server = engine.Server(parameters)
    return server, str(server.listening_address)


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(0)


if __name__ == "__main__":
    main()
