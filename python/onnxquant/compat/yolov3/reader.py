"""Images letterboxed to the network's size."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional

import numpy as np

from ..onnxruntime.quantization.calibrate import CalibrationDataReader


def letterbox(path: str, width: int, height: int) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """([1, 3, height, width] within 0 and 1 on gray, [[image's height, width]])."""
    from PIL import Image

    image = Image.open(path).convert("RGB")
    scale = min(width / image.width, height / image.height)
    size = (int(image.width * scale), int(image.height * scale))
    whole = Image.new("RGB", (width, height), (128, 128, 128))
    whole.paste(image.resize(size, Image.BICUBIC), ((width - size[0]) // 2, (height - size[1]) // 2))
    pixels = np.asarray(whole, np.float32) / np.float32(255)
    shape = np.array([[image.height, image.width]], np.float32)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))[None], shape


class YoloV3DataReader(CalibrationDataReader):
    """Gives {input: image, image_shape: [[h, w]]}, with image_id in evaluation."""

    def __init__(
        self, calibration_image_folder: Any, width: int = 416, height: int = 416, start_index: int = 0,
        end_index: int = 0, stride: int = 1, batch_size: int = 1, model_path: Any = "augmented_model.onnx",
        is_evaluation: bool = False, annotations: Any = "./annotations/instances_val2017.json", size_limit: int = 0,
    ) -> None:
        self.image_folder, self.model_path = os.fspath(calibration_image_folder), model_path
        self.width, self.height = width, height
        self.batch_size, self.stride, self.is_evaluation = batch_size, stride, is_evaluation
        names = sorted(
            name for name in os.listdir(self.image_folder) if name.lower().endswith((".jpg", ".jpeg", ".png")))
        self.start_index = start_index
        if size_limit > 0:
            end_index = start_index + size_limit
        self.end_index = min(end_index, len(names)) if end_index else len(names)
        self.names = names[self.start_index : self.end_index]
        self.ids = _ids(annotations, names) if is_evaluation else {}
        self.at = 0
        self.input_name: Optional[str] = None

    def get_dataset_size(self) -> int:
        return len(self.names)

    def get_batch_size(self) -> int:
        return self.batch_size

    def get_input_name(self) -> str:
        """The image's input, which the model's file tells."""
        if self.input_name is None:
            from ...model import load

            inputs = [tensor.name for tensor in load(self.model_path).inputs]
            self.input_name = next((name for name in inputs if name != "image_shape"), inputs[0])
        return self.input_name

    def rewind(self) -> None:
        self.at = 0

    def get_next(self) -> Any:
        if self.at >= len(self.names):
            return None
        name = self.get_input_name()
        if self.is_evaluation and self.batch_size > 1:
            batch: List[Dict[str, Any]] = [self._sample(name) for _ in range(min(self.batch_size, len(self.names) - self.at))]
            return batch
        return self._sample(name)

    def _sample(self, name: str) -> Dict[str, Any]:
        file = self.names[self.at]
        self.at += 1
        image, shape = letterbox(os.path.join(self.image_folder, file), self.width, self.height)
        sample: Dict[str, Any] = {name: image, "image_shape": shape}
        if self.is_evaluation:
            sample["image_id"] = self.ids[file]
        return sample


def _ids(annotations: Any, names: List[str]) -> Dict[str, int]:
    """Identifiers of images, from the annotations or by their order."""
    if annotations and os.path.exists(annotations):
        with open(annotations) as file:
            return {image["file_name"]: image["id"] for image in json.load(file)["images"]}
    return {name: index for index, name in enumerate(names)}
