"""Reader and evaluator of the YOLOv3 example that came with ONNX Runtime 1.7."""

from .evaluate import YoloV3Evaluator
from .reader import YoloV3DataReader

__all__ = ["YoloV3DataReader", "YoloV3Evaluator"]
