"""Every published number comes from here: `python -m bench NAME [--json]`."""
