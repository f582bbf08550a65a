"""The filter of system calls: which are refused, by number, assembled."""
