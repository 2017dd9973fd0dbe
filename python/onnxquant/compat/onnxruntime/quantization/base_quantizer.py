"""Names that programs import from here."""

from .qdq_quantizer import _Quantizer as BaseQuantizer

__all__ = ["BaseQuantizer"]
