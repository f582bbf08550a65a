"""Judges what code would do before it runs, and what the person's rules say about it.

Pure: text in, judgement out. The sandbox is what confines code; the policy decides what is worth a
question, what is never to run, and what the person should look at twice.
"""
