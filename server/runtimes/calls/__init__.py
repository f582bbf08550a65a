"""Calls out of code: functions of the server that approved code may call while its run lasts."""
