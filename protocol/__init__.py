"""The wire: what a Sayso client and a Sayso server say to each other. SPEC.md is the truth."""
