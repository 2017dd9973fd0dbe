"""ESP-DL v1.x: the calibrator, evaluator and optimizer that its toolkit had.

    from onnxquant import esp

    calibrator = esp.Calibrator("int8", "per-channel", "entropy")
    calibrator.generate_quantization_table("model.onnx", samples, "table.pickle")
    calibrator.export_coefficient_to_cpp("model.onnx", "table.pickle", "esp32s3", ".", "coefficient")

A real number is an integer times 2^exponent. Everything is computed by the
compiler, to the bit as the chip computes it.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._load import compiler
from .model import Model, ModelLike, write_whole
from .session import Session
from .session import compile as _compile

__all__ = ["Calibrator", "Evaluator", "optimize", "optimize_fp_model"]

PathLike = Union[str, "os.PathLike[str]"]

_CHIPS = ("esp32", "esp32s2", "esp32c3", "esp32s3")
_BITS = {"int8": 8, "int16": 16}

#: The passes of the toolkit's optimizer, by ONNX Optimizer's names. Products
#: that the others make are folded with their BatchNormalization at the end.
PASSES = (
    "extract_constant_to_initializer", "fuse_bn_into_conv", "fuse_add_bias_into_conv", "fuse_pad_into_conv",
    "fuse_matmul_add_bias_into_gemm", "fuse_transpose_into_gemm", "eliminate_nop_flatten", "eliminate_nop_pad",
    "eliminate_nop_transpose", "eliminate_unused_initializer", "eliminate_duplicate_initializer", "fuse_bn_into_conv",
)


def _one_of(what: str, value: Any, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ValueError(f"{what} expects one of {', '.join(choices)}, but got {value!r}")
    return str(value)


class _Tool:
    """What calibrator and evaluator share."""

    def __init__(self, bits: str, granularity: str, chip: str) -> None:
        self._options: Dict[str, Any] = {"bits": _BITS[_one_of("bits", bits, tuple(_BITS))]}
        self._options["granularity"] = _one_of("granularity", granularity, ("per-tensor", "per-channel"))
        self._options["chip"] = _one_of("chip", chip, _CHIPS)
        if bits == "int16" and granularity != "per-tensor":
            raise ValueError("int16 is quantized per tensor: granularity expects 'per-tensor'")

    def set_providers(self, providers: Sequence[str]) -> None:
        """For scripts that choose ONNX Runtime's providers: all run on the CPU."""
        if isinstance(providers, str):
            raise TypeError("providers expects a list of names")

    def check_model(self, model: ModelLike) -> None:
        """Prints a line for each node that ESP-DL v1.x can't run and raises ValueError.

        >>> from onnxquant import esp
        >>> esp.Calibrator("int8").check_model(example("digits.onnx"))
        """
        reasons = compiler().esp_check(Model(model)._argument())
        for reason in reasons:
            print(reason)
        if reasons:
            raise ValueError(f"the model has {len(reasons)} nodes that ESP-DL v1.x can't run: {reasons[0]}")


class Calibrator(_Tool):
    """Finds the scales of a model's tensors and writes its coefficients.

    bits is 'int8' or 'int16', granularity 'per-tensor' or 'per-channel', method
    'minmax' or 'entropy'; int16 has 'per-tensor' and 'minmax' only.
    """

    def __init__(self, quantization_bit: str, granularity: str = "per-tensor", calib_method: str = "minmax") -> None:
        super().__init__(quantization_bit, granularity, "esp32s3")
        self.set_method(granularity, calib_method)

    def set_method(self, granularity: str, calib_method: str) -> None:
        """Changes granularity and method."""
        _one_of("granularity", granularity, ("per-tensor", "per-channel"))
        _one_of("calib_method", calib_method, ("minmax", "entropy"))
        if self._options["bits"] == 16 and (granularity, calib_method) != ("per-tensor", "minmax"):
            raise ValueError("int16 takes granularity 'per-tensor' and calib_method 'minmax'")
        self._options.update(granularity=granularity, method=calib_method)

    def set_input_exponent(self, exponent: int) -> None:
        """Fixes the exponent of the model's input, which can't be above 0."""
        if exponent > 0:
            raise ValueError(f"the input's exponent can't be above 0, but got {exponent}")
        self._options["input_exponent"] = int(exponent)

    def generate_quantization_table(self, model: ModelLike, calib_dataset: Any, pickle_file_path: PathLike) -> None:
        """Runs samples (the first axis of an array) and writes the table of scales."""
        source = Model(model)
        data = np.asarray(calib_dataset)
        if data.ndim == 0 or len(data) == 0:
            raise ValueError("calib_dataset expects an array whose first axis has samples")
        name = source.inputs[0].name
        samples = [[(name, np.ascontiguousarray(data[i : i + 1], dtype=np.float32))] for i in range(len(data))]
        table = compiler().esp_table(source._argument(), dict(self._options), samples, len(samples), None)
        write_whole(os.fspath(pickle_file_path), table)

    def export_coefficient_to_cpp(
        self, model: ModelLike, pickle_file_path: PathLike, target_chip: str, output_path: PathLike, file_name: str,
        print_model_info: bool = False, model_class: str = "",
    ) -> None:
        """Writes FILE_NAME.cpp and .hpp for a chip; with `model_class` also
        model_define.hpp, a class of that name that builds the network."""
        options = dict(self._options, chip=_one_of("target_chip", target_chip, _CHIPS))
        options = {key: options[key] for key in ("bits", "granularity", "chip")}
        source, header, definition, exponents = compiler().esp_export(
            Model(model)._argument(), os.fspath(pickle_file_path), options, file_name, model_class)
        folder = os.fspath(output_path)
        write_whole(os.path.join(folder, file_name + ".cpp"), source.encode())
        write_whole(os.path.join(folder, file_name + ".hpp"), header.encode())
        if definition:
            write_whole(os.path.join(folder, "model_define.hpp"), definition.encode())
        if print_model_info:
            print("Quantized model info:")
            for name, op, exponent in exponents:
                print(f"{op} layer name: {name}, output_exponent: {exponent}" if op
                      else f"model input name: {name}, exponent: {exponent}")


class Evaluator(_Tool):
    """Runs a quantized model as a chip does: integers, shifts, saturation.

    The second argument may be left out, as in the toolkit's first version:
    Evaluator('int16', 'esp32s3').
    """

    def __init__(self, quantization_bit: str, granularity: str = "per-tensor", target_chip: str = "esp32s3") -> None:
        if granularity in _CHIPS:
            granularity, target_chip = "per-tensor", granularity
        super().__init__(quantization_bit, granularity, target_chip)
        self._session: Optional[Session] = None
        self._inputs: List[Tuple[str, str, List[int], int]] = []
        self._outputs: List[Tuple[str, str, List[int], int]] = []

    def set_target_chip(self, target_chip: str) -> None:
        """Chooses the chip whose arithmetic counts."""
        self._options["chip"] = _one_of("target_chip", target_chip, _CHIPS)

    def generate_quantized_model(self, model: ModelLike, pickle_file_path: PathLike) -> None:
        """Compiles the model that the chip would run, with the scales of a table."""
        graph, self._inputs, self._outputs = compiler().esp_simulate(
            Model(model)._argument(), os.fspath(pickle_file_path), dict(self._options))
        self._session = _compile(graph)

    def evaluate_quantized_model(self, batch_fp_input: Any, to_float: bool = False) -> List[Any]:
        """[outputs, names] of a batch of float samples.

        Outputs are integers, or with `to_float` real numbers.
        """
        if self._session is None:
            raise ValueError("there is no model: call generate_quantized_model first")
        batch = np.asarray(batch_fp_input)
        name, kind, dims, exponent = self._inputs[0]
        if batch.ndim == len(dims) - 1:
            batch = batch[np.newaxis]
        if batch.ndim != len(dims):
            raise ValueError(f"input '{name}' expects {len(dims)} dimensions, but got shape {batch.shape}")
        limits = np.iinfo(kind)
        if batch.dtype.kind == "f":
            batch = np.rint(batch * 2.0 ** -exponent)
        numbers = np.clip(batch, limits.min, limits.max).astype(kind)
        # A graph input that kernels read as an image has its channels last.
        if numbers.ndim > 2 and list(numbers.shape[1:]) != dims[1:]:
            numbers = np.moveaxis(numbers, 1, -1)
        if list(numbers.shape[1:]) != dims[1:]:
            raise ValueError(f"input '{name}' expects samples of shape {dims[1:]} (channels last), "
                             f"but got {list(batch.shape[1:])}")
        results: List[List[Any]] = [[] for _ in self._outputs]
        for sample in np.ascontiguousarray(numbers):
            outputs = self._session.run({name: sample[np.newaxis]})
            for found, (each, *_) in zip(results, self._outputs):
                found.append(outputs[each])
        arrays = [np.concatenate(found) for found in results]
        if to_float:
            arrays = [array * np.float32(2.0 ** exponent) for array, (*_, exponent) in zip(arrays, self._outputs)]
        return [arrays, [each for each, *_ in self._outputs]]

    #: The toolkit's own spelling.
    evalute_quantized_model = evaluate_quantized_model


def optimize(
    model: ModelLike, out: Optional[PathLike] = None, *, passes: Sequence[str] = PASSES, batch: str = "N"
) -> Model:
    """The toolkit's passes, and a batch that is open.

    Products that a fusion makes are called fused_gemm_0, fused_gemm_1, ...

    >>> from onnxquant import esp
    >>> esp.optimize(example("digits.onnx")).inputs[0].shape
    ('N', 1, 28, 28)
    """
    # Constants of models in memory are initializers.
    names = [name for name in passes if name != "extract_constant_to_initializer"]
    data, changes = compiler().esp_optimize(
        Model(model)._argument(), names, batch, os.fspath(out) if out is not None else "")
    result = Model(data if data is not None else os.fspath(out))  # type: ignore[arg-type]
    result.changes = json.loads(changes)
    return result


def optimize_fp_model(model_path: PathLike) -> str:
    """Writes NAME_optimized.onnx beside a model and gives its path."""
    stem, extension = os.path.splitext(os.fspath(model_path))
    if extension.lower() != ".onnx":
        raise ValueError(f"{os.fspath(model_path)}: expects a file that ends with .onnx")
    out = stem + "_optimized.onnx"
    optimize(model_path, out)
    return out

