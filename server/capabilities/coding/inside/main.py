"""Starts the program in the sandbox: `python -I main.py SOCKET`.

It imports its own package by the folder that it lies in, which is all of Sayso that is there.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

if __name__ == "__main__":
    own = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        own.name, own / "__init__.py", submodule_search_locations=[str(own)]
    )
    if spec is None:
        sys.exit("The program's own folder can't be seen.")
    # Its folder's own folder need not be there to look into, where an import would look.
    sys.modules[own.name] = importlib.util.module_from_spec(spec)
    importlib.import_module(f"{own.name}.service").serve(int(sys.argv[1]))
