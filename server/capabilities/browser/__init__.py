"""Sayso's own browser: Chromium in the sandbox, driven over a pipe, or in a window by its person.

Many modules, because each is one step between a model's words and a page: finding Chromium, how it
is started and spoken to, its pages and their documents, acting, what is asked first, what passes.
"""
