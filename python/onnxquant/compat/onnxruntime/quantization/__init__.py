"""Answers for `onnxruntime.quantization`, all generations from 1.5 on."""

from .calibrate import (
    CalibraterBase,
    CalibrationDataReader,
    CalibrationMethod,
    MinMaxCalibrater,
    TensorData,
    TensorsData,
    calibrate,
    create_calibrator,
    load_tensors_data,
    save_tensors_data,
)
from .qdq_quantizer import QDQQuantizer
from .quant_utils import QuantFormat, QuantType, write_calibration_table
from .quantize import (
    DynamicQuantConfig,
    QuantizationMode,
    StaticQuantConfig,
    get_qdq_config,
    quantize,
    quantize_dynamic,
    quantize_qat,
    quantize_static,
)
from .shape_inference import quant_pre_process

__all__ = [
    "CalibraterBase", "CalibrationDataReader", "CalibrationMethod", "DynamicQuantConfig", "MinMaxCalibrater",
    "QDQQuantizer", "QuantFormat", "QuantType", "QuantizationMode", "StaticQuantConfig", "TensorData", "TensorsData",
    "calibrate", "create_calibrator", "get_qdq_config", "load_tensors_data", "quant_pre_process", "quantize",
    "quantize_dynamic", "quantize_qat", "quantize_static", "save_tensors_data", "write_calibration_table",
]


def __getattr__(name):
    if name == "CudaQuantizer":
        from ....errors import UnsupportedError

        raise UnsupportedError("CudaQuantizer needs CUDA, which this package doesn't use")
    raise AttributeError(f"module 'onnxruntime.quantization' has no attribute '{name}'")
