"""Bounds what a conversation takes of the machine: cgroups where there are any, a watch
otherwise."""
