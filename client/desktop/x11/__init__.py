"""An X11 screen: windows, pictures, pointer, keys, clipboard, and the person's own hand."""
