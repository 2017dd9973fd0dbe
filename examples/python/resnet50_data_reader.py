"""Images of a folder as a classifier takes them: resized, without the mean color."""

import os

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader
from PIL import Image


class ResNet50DataReader(CalibrationDataReader):
    def __init__(self, calibration_image_folder, model_path):
        port = onnxruntime.InferenceSession(model_path).get_inputs()[0]
        self.name, (_, _, self.height, self.width) = port.name, port.shape
        self.files = sorted(os.path.join(calibration_image_folder, name) for name in os.listdir(calibration_image_folder))
        self.rewind()

    def get_next(self):
        file = next(self.left, None)
        if file is None:
            return None
        image = Image.open(file).convert("RGB").resize((self.width, self.height))
        pixels = np.asarray(image, np.float32) - np.array([123.68, 116.78, 103.94], np.float32)
        return {self.name: np.ascontiguousarray(pixels[None].transpose(0, 3, 1, 2))}

    def rewind(self):
        self.left = iter(self.files)
