"""Files between a workspace and this machine: upload, download, results too large for a message."""
