"""The functions of Sayso that approved code may call while it runs."""
