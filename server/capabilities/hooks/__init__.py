"""Programs of the person's own that look at what is to run, was changed, or is said in the end."""
