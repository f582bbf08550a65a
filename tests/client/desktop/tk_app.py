"""A window in Tk that writes down what is typed: run by the system's Python. Tk tells nothing of
what stands in its windows.

usage: tk_app.py STATE_FILE TITLE
"""

import json
import sys
import tkinter as tk
from pathlib import Path

root = tk.Tk(className="fixture")
root.title(sys.argv[2])
text = tk.Text(root, width=60, height=12)
text.pack()
text.focus_set()


def save(_: object = None) -> None:
    Path(f"{sys.argv[1]}.new").write_text(json.dumps({"text": text.get("1.0", "end-1c")}))
    Path(f"{sys.argv[1]}.new").replace(sys.argv[1])
    root.after(50, save)


save()
root.mainloop()
