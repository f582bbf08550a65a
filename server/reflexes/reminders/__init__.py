"""Timers, alarms and reminders: kept in the log, told or rung when their time comes."""
