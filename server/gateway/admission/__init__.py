"""Admission: which clients may connect, how many, how fast, and how long they may take."""
