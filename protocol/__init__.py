"""Defines the messages between a Sayso client and a Sayso server. SPEC.md is authoritative."""
