"""Reads the words that programs are started with: what they run, write and delete."""
