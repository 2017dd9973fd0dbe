"""Boxes of a YOLOv3 network, and COCO's figures of them."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ...report import coco
from ..onnxruntime.capi.onnxruntime_inference_collection import InferenceSession


class YoloV3Evaluator:
    """predict() runs a reader's samples, get_result() gives the boxes,
    evaluate(boxes, annotations) prints COCO's twelve figures."""

    def __init__(
        self, model_path: Any, data_reader: Any, width: int = 416, height: int = 416,
        providers: Sequence[str] = ("CPUExecutionProvider",),
        ground_truth_object_class_file: Any = "./coco-object-categories-2017.json",
        onnx_object_class_file: Any = "./onnx_coco_classes.txt",
    ) -> None:
        self.model_path, self.data_reader = model_path, data_reader
        self.width, self.height, self.providers = width, height, list(providers)
        self.class_to_id = _categories(ground_truth_object_class_file)
        self.classes = _classes(onnx_object_class_file)
        self.session = InferenceSession(model_path, providers=self.providers)
        self.prediction_result_list: List[Dict[str, Any]] = []

    def set_data_reader(self, data_reader: Any) -> None:
        self.data_reader = data_reader

    def get_result(self) -> List[Dict[str, Any]]:
        return self.prediction_result_list

    def predict(self) -> None:
        while True:
            samples = self.data_reader.get_next()
            if not samples:
                return
            for sample in samples if isinstance(samples, list) else [samples]:
                feeds = dict(sample)
                image = feeds.pop("image_id", 0)
                self._add(int(np.asarray(image)), self.session.run(None, feeds))

    def _add(self, image: int, outputs: Sequence[Any]) -> None:
        boxes, scores, indices = outputs[:3]
        for batch, category, box in np.asarray(indices).reshape(-1, 3):
            top, left, bottom, right = (float(v) for v in boxes[batch, box])
            self.prediction_result_list.append({
                "image_id": image, "category_id": self._category(int(category)),
                "bbox": [left, top, right - left, bottom - top], "score": float(scores[batch, category, box])})

    def _category(self, index: int) -> int:
        if self.classes and self.class_to_id:
            return self.class_to_id[self.classes[index]]
        return _COCO_IDS[index] if index < len(_COCO_IDS) else index + 1

    def evaluate(self, prediction_result: List[Dict[str, Any]], annotations: Any) -> Any:
        result = coco(prediction_result, annotations)
        print(result)
        return result


# The 80 categories of COCO 2017 among 90 numbers.
_MISSING = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
_COCO_IDS = [number for number in range(1, 91) if number not in _MISSING]


def _categories(path: Any) -> Optional[Dict[str, int]]:
    if not path or not os.path.exists(path):
        return None
    with open(path) as file:
        content = json.load(file)
    return {entry["name"]: int(entry["id"]) for entry in content}


def _classes(path: Any) -> Optional[List[str]]:
    if not path or not os.path.exists(path):
        return None
    with open(path) as file:
        return [line.strip() for line in file if line.strip()]
