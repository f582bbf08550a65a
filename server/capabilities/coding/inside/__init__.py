"""What runs in the sandbox, with the kernels' Python: it reads and writes untrusted files, and
knows no other room.

Many modules, because the sandbox is shown this one folder, and none of it may import from outside.
"""
