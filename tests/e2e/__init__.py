"""Whole stories: a real server and a real client, one module for each story, and so as many."""
