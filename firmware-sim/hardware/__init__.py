"""The simulated board: button, light, memory, flash, clock, radio and watchdog."""
