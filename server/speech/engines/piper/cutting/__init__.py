"""Cuts a stock piper voice into parts that can be decoded in windows. Needs the package `onnx`."""
