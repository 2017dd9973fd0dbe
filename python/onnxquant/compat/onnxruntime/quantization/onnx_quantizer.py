"""ONNXQuantizer under its module's name."""

from .qdq_quantizer import ONNXQuantizer

__all__ = ["ONNXQuantizer"]
