"""What programs look for below `onnxruntime.quantization.neural_compressor`."""
