"""Jupyter's own tests of kernels, told what to try with Python.

It runs as `python -m tests.runtimes.jupyters CONNECTION_FILE` and prints as JSON how many tests it
ran, which it left out and what went wrong: a program of its own, because Jupyter's blocking client
leaves event loops open.
"""

import json
import sys
import unittest

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_kernel_test import KernelTests

from tests.runtimes.sandboxes import RUN_S


class OfPython(KernelTests):  # type: ignore[misc]  # it has no types
    """What is to be tried; `connection` is set before."""

    connection = ""
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]  # noqa: RUF012
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n"]  # noqa: RUF012
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]  # noqa: RUF012
    invalid_code_samples = ["import = 7q"]  # noqa: RUF012
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [  # noqa: RUF012
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    ]
    code_display_data = [  # noqa: RUF012
        {"code": f"from IPython.display import {kind}; display({kind}({value}))", "mime": mime}
        for kind, value, mime in (
            ("HTML", "'<b>test</b>'", "text/html"),
            ("Math", "'\\\\frac{1}{2}'", "text/latex"),
            ("SVG", "'<svg></svg>'", "image/svg+xml"),
            ("JSON", "{'a': 1}", "application/json"),
        )
    ]
    supported_history_operations = ("tail", "search")
    code_history_pattern = "1?2*"
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"

    @classmethod
    def setUpClass(cls) -> None:
        cls.kc = BlockingKernelClient(connection_file=cls.connection)
        cls.kc.load_connection_file()
        cls.kc.start_channels()
        cls.kc.wait_for_ready(timeout=RUN_S)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.kc.stop_channels()


def main() -> None:
    OfPython.connection = sys.argv[1]
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(OfPython).run(result)
    skipped = [case.id().rpartition(".")[2] for case, _ in result.skipped]
    problems = [words for _, words in (*result.failures, *result.errors)]
    told = {"run": result.testsRun, "skipped": skipped, "problems": problems}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
