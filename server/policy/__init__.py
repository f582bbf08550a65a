"""What code would do, as far as can be told before it runs, and what the person's rules say to it.

Pure: text in, judgement out. The sandbox is what confines code; the policy decides what is worth a
question, what is never to run, and what the person should look at twice.
"""
