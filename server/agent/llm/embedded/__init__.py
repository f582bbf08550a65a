"""The language model that runs on this machine: llama.cpp in a process of its own."""
