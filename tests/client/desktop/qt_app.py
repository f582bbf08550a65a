"""A window in Qt that writes down what is typed: run by the system's Python.

usage: qt_app.py STATE_FILE TITLE
"""

import importlib
import json
import sys
from pathlib import Path

widgets = importlib.import_module("PyQt5.QtWidgets")
app = widgets.QApplication(["fixture"])
app.setApplicationName("fixture")
edit = widgets.QPlainTextEdit()
edit.setWindowTitle(sys.argv[2])


def save() -> None:
    Path(f"{sys.argv[1]}.new").write_text(json.dumps({"text": edit.toPlainText()}))
    Path(f"{sys.argv[1]}.new").replace(sys.argv[1])


edit.textChanged.connect(save)
edit.show()
edit.setFocus()
save()
app.exec_()
