"""A program that is a terminal and calls itself something else: it holds the other end of a
console, and shows a window. Run by the system's Python."""

import os
import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402

holds = os.open("/dev/ptmx", os.O_RDWR)
Gdk.set_program_class("fixture")
window = Gtk.Window(title=sys.argv[1])
window.add(Gtk.Entry())
window.show_all()
Gtk.main()
