"""Modules that scripts for ESP-DL's v1.x toolkit import: calibrator, evaluator,
optimizer, and the part of ONNX Optimizer that they use."""
