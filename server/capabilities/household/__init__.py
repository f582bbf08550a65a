"""Timers, alarms, reminders and lists, as tools of the model."""
