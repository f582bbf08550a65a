"""Tests of conversations: flat, because each module proves one thing that people see in them."""
