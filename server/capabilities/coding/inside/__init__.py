"""What runs in the sandbox, with the kernels' Python: it reads and writes untrusted files, and
knows no other room."""
