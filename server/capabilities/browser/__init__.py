"""Sayso's own browser: Chromium in the sandbox, driven through a pipe, as tools of the model's."""
