"""The pictures in README: a real server, a scripted language model, a terminal and a browser."""
