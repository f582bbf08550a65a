"""Every published number comes from here: `python -m bench NAME [--json]`.

There is one module for each benchmark, so that its name is that of the command, and the folder
holds as many; what they share lies in `support`.
"""

import os

# As for the workers: onnxruntime reports to its maker unless this is set before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
