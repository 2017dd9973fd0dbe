"""What programs look for below `onnxruntime.tools`."""
