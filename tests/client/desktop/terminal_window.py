"""A program that is a terminal and calls itself something else: it holds the other end of a
console, and shows a window. Run by the system's Python."""

import importlib
import os
import sys

importlib.import_module("gi").require_version("Gtk", "3.0")
Gdk = importlib.import_module("gi.repository.Gdk")
Gtk = importlib.import_module("gi.repository.Gtk")

holds = os.open("/dev/ptmx", os.O_RDWR)
Gdk.set_program_class("fixture")
window = Gtk.Window(title=sys.argv[1])
window.add(Gtk.Entry())
window.show_all()
Gtk.main()
