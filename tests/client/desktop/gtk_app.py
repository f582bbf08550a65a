"""A window in GTK 3 that writes down what happens in it: run by the system's Python.

usage: gtk_app.py STATE_FILE TITLE [X Y]
"""

import importlib
import json
import sys
from pathlib import Path

importlib.import_module("gi").require_version("Gtk", "3.0")
Gdk = importlib.import_module("gi.repository.Gdk")
Gtk = importlib.import_module("gi.repository.Gtk")

Gdk.set_program_class("fixture")
pushed: list[str] = []
state: dict[str, object] = {"pressed": pushed}


def save() -> None:
    begin, end = view.get_buffer().get_bounds()
    state["entry"], state["secret"] = entry.get_text(), secret.get_text()
    state["text"] = view.get_buffer().get_text(begin, end, True)
    state["checked"] = check.get_active()
    Path(f"{sys.argv[1]}.new").write_text(json.dumps(state))
    Path(f"{sys.argv[1]}.new").replace(sys.argv[1])


def pressed(_: object, name: str) -> None:
    pushed.append(name)
    label.set_text(f"pressed {name} {len(pushed)}")
    save()


window = Gtk.Window(title=sys.argv[2])
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
label = Gtk.Label(label="Nothing was pressed")
entry, secret, view = Gtk.Entry(), Gtk.Entry(visibility=False), Gtk.TextView()
secret.set_input_purpose(Gtk.InputPurpose.PASSWORD)
entry.get_accessible().set_name("Name")
view.get_accessible().set_name("Text")
check = Gtk.CheckButton(label="Remember")
view.set_size_request(400, 120)
box.add(label)
for widget in (entry, secret, view, check):
    box.add(widget)
for name in ("Show", "Send", "Twice", "Twice"):
    button = Gtk.Button(label=name)
    button.connect("clicked", pressed, name)
    box.add(button)
entry.connect("changed", lambda _: save())
secret.connect("changed", lambda _: save())
view.get_buffer().connect("changed", lambda _: save())
check.connect("toggled", lambda _: save())
window.add(box)
window.connect("destroy", Gtk.main_quit)
if len(sys.argv) > 3:
    window.move(int(sys.argv[3]), int(sys.argv[4]))
view.grab_focus()
window.show_all()
save()
Gtk.main()
