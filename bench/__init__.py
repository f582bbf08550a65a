"""Every published number comes from here: `python -m bench NAME [--json]`."""

import os

# As for the workers: onnxruntime reports to its maker unless this is set before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
