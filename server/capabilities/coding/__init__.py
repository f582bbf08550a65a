"""The model's hands on code: edits as diffs, looks that cannot write, and tests."""
