"""How Hypothesis runs here."""

from hypothesis import settings

# A busy machine makes single examples slow; pytest's own timeout bounds each test.
settings.register_profile("whatever the load", deadline=None)
settings.load_profile("whatever the load")
