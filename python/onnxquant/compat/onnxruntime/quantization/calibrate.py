"""Readers, calibrators and what they give, by ORT's names."""

from __future__ import annotations

import abc
import json
import os
import uuid
from enum import Enum
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from .... import table as _table
from .quant_utils import smooth_distribution


class CalibrationMethod(Enum):
    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


class CalibrationDataReader(metaclass=abc.ABCMeta):
    """Gives samples one by one: get_next() is a dictionary, or None at the end."""

    @classmethod
    def __subclasshook__(cls, subclass: Any) -> Any:
        return (hasattr(subclass, "get_next") and callable(subclass.get_next)) or NotImplemented

    @abc.abstractmethod
    def get_next(self) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        result = self.get_next()
        if result is None:
            raise StopIteration
        return result

    def __len__(self) -> int:
        raise NotImplementedError

    def set_range(self, start_index: int, end_index: int) -> None:
        raise NotImplementedError


class TensorData:
    """What is known of a tensor: lowest, highest, avg, std, hist, hist_edges, bins."""

    _allowed = frozenset(["avg", "std", "lowest", "highest", "hist", "hist_edges", "bins"])
    _floats = frozenset(["avg", "std", "lowest", "highest", "hist_edges"])

    def __init__(self, **kwargs: Any) -> None:
        self._attrs = list(kwargs)
        for name, value in kwargs.items():
            if name not in self._allowed:
                raise ValueError(f"Unexpected value {name!r} not in {sorted(self._allowed)}.")
            if name in self._floats:
                if not hasattr(value, "dtype"):
                    raise ValueError(f"Unexpected type {type(value)} for k={name!r}")
                if value.dtype not in (np.float16, np.float32):
                    raise ValueError(f"Unexpected dtype {value.dtype} for k={name!r}")
            setattr(self, name, value)

    @property
    def range_value(self) -> Tuple[Any, Any]:
        if not hasattr(self, "lowest") or not hasattr(self, "highest"):
            raise AttributeError(f"Attributes 'lowest' and/or 'highest' missing in {dir(self)}.")
        return self.lowest, self.highest

    @property
    def avg_std(self) -> Tuple[Any, Any]:
        if not hasattr(self, "avg") or not hasattr(self, "std"):
            raise AttributeError(f"Attributes 'avg' and/or 'std' missing in {dir(self)}.")
        return self.avg, self.std

    def to_dict(self) -> Dict[str, Any]:
        data = {name: getattr(self, name) for name in self._attrs}
        data["CLS"] = self.__class__.__name__
        return data

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "TensorData":
        return cls(**{name: value for name, value in data.items() if name != "CLS"})


class TensorsData:
    """Names to TensorData; values that are there may be replaced."""

    def __init__(self, calibration_method: CalibrationMethod, data: Dict[str, Any]) -> None:
        self.calibration_method = calibration_method
        self.smooth_quant = False
        self.data: Dict[str, TensorData] = {}
        for name, value in data.items():
            if not isinstance(name, str):
                raise TypeError(f"Keys must be strings not {type(name)}.")
            if isinstance(value, tuple):
                if calibration_method == CalibrationMethod.MinMax and len(value) == 2:
                    value = TensorData(lowest=_float(value[0]), highest=_float(value[1]))
                elif len(value) == 4:
                    value = TensorData(lowest=_float(value[0]), highest=_float(value[1]), hist=value[2],
                                       hist_edges=_float(value[3]))
                elif len(value) == 2:
                    value = TensorData(lowest=_float(value[0]), highest=_float(value[1]))
                else:
                    raise TypeError(f"Unexpected tuple for {name!r}, it has {len(value)} elements: {value}.")
            if not isinstance(value, TensorData):
                raise TypeError(f"Values must be TensorData not {type(value)}.")
            self.data[name] = value

    def __iter__(self) -> Iterator[str]:
        yield from self.data

    def __contains__(self, name: object) -> bool:
        return name in self.data

    def __getitem__(self, name: str) -> TensorData:
        return self.data[name]

    def __setitem__(self, name: str, value: TensorData) -> None:
        if name not in self.data:
            raise RuntimeError(f"Only an existing tensor can be modified, {name!r} is not.")
        self.data[name] = value

    def __len__(self) -> int:
        return len(self.data)

    def keys(self) -> Any:
        return self.data.keys()

    def values(self) -> Any:
        return self.data.values()

    def items(self) -> Any:
        return self.data.items()

    def get(self, name: str, default: Any = None) -> Any:
        return self.data.get(name, default)

    def to_dict(self) -> Dict[str, Any]:
        return {"CLS": self.__class__.__name__, "data": self.data, "calibration_method": self.calibration_method}


def _float(value: Any) -> Any:
    array = np.asarray(value)
    return array if array.dtype in (np.float16, np.float32) else array.astype(np.float32)


def entropy(pk: Any, qk: Any, base: Optional[float] = None, axis: int = 0) -> Any:
    """The divergence of one distribution from another; both are normalized."""
    p, q = (np.asarray(counts, np.float32) for counts in np.broadcast_arrays(pk, qk))
    p, q = p / p.sum(axis=axis, keepdims=True), q / q.sum(axis=axis, keepdims=True)
    # Nothing where p has nothing, infinite where q alone has nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, np.where(q > 0, p * np.log(p / q), np.inf), np.where(q >= 0, 0, np.inf))
    result = terms.sum(axis=axis)
    return (result if base is None else result / np.log(base)).astype(p.dtype)


class CalibrationMethodEncoder(json.JSONEncoder):
    """Tables as JSON."""

    def default(self, obj: Any) -> Any:
        if isinstance(obj, (TensorData, TensorsData)):
            return obj.to_dict()
        if isinstance(obj, np.ndarray):
            return {"data": obj.tolist(), "dtype": str(obj.dtype), "CLS": "numpy.array"}
        if isinstance(obj, np.generic):
            return {"data": obj.item(), "dtype": str(obj.dtype), "CLS": "numpy.array"}
        if isinstance(obj, CalibrationMethod):
            return {"CLS": obj.__class__.__name__, "value": str(obj)}
        return super().default(obj)


def save_tensors_data(data: TensorsData, path: Any, *, smooth_quant: bool = False) -> None:
    """Writes a table as JSON; the file appears whole or not at all."""
    from ....model import write_whole

    content = {**data.to_dict(), "smooth_quant": smooth_quant}
    where = os.fspath(path)
    os.makedirs(os.path.dirname(os.path.abspath(where)), exist_ok=True)
    write_whole(where, json.dumps(content, cls=CalibrationMethodEncoder).encode())


def load_tensors_data(path: Any) -> TensorsData:
    """Reads what `save_tensors_data` wrote."""
    where = os.fspath(path)
    if not os.path.exists(where):
        raise FileNotFoundError(f"{where}: no such calibration cache")
    with open(where) as file:
        content = json.load(file)
    if not isinstance(content, dict) or content.get("CLS") != "TensorsData":
        raise ValueError(f"{where}: is no calibration cache")
    method = CalibrationMethod[content["calibration_method"]["value"].split(".")[-1]]
    tensors = {}
    for name, entry in content["data"].items():
        values = {
            key: np.array(value["data"], value["dtype"]) if isinstance(value, dict) else value
            for key, value in entry.items()
            if key != "CLS"
        }
        tensors[name] = TensorData(**values)
    result = TensorsData(method, tensors)
    result.smooth_quant = bool(content.get("smooth_quant", False))
    return result


class CalibraterBase:
    """Finds ranges of a model's tensors by running samples."""

    method = CalibrationMethod.MinMax

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", symmetric: bool = False,
        use_external_data_format: bool = False, per_channel: bool = False,
    ) -> None:
        import onnx

        if isinstance(model_path, (str, os.PathLike)):
            from .quant_utils import load_model_with_shape_infer

            self._source: Any = os.fspath(model_path)
            self.model = load_model_with_shape_infer(Path(model_path))
        elif isinstance(model_path, onnx.ModelProto):
            self._source = model_path
            self.model = onnx.ModelProto()
            self.model.CopyFrom(model_path)
        else:
            raise ValueError("model_path should be model path or onnx.ModelProto.")
        self.op_types_to_calibrate = op_types_to_calibrate
        self.augmented_model_path = augmented_model_path
        self.symmetric = symmetric
        self.use_external_data_format = use_external_data_format
        self.per_channel = per_channel
        self.augment_model: Any = None
        self._session: Any = None
        self.execution_providers = ["CPUExecutionProvider"]
        self._result: Optional[_table.Table] = None
        self._names, _ = self.select_tensors_to_calibrate(self.model)

    def set_execution_providers(self, execution_providers: Sequence[str] = ("CPUExecutionProvider",)) -> None:
        from ..capi.onnxruntime_inference_collection import warn_of_providers

        warn_of_providers(execution_providers)
        self.execution_providers = list(execution_providers)
        self.create_inference_session()

    def create_inference_session(self) -> None:
        """The next use of `infer_session` reads the augmented model anew."""
        self._session = None

    @property
    def infer_session(self) -> Any:
        """A session of the augmented model; collecting needs none."""
        from ..capi.onnxruntime_inference_collection import InferenceSession

        if self._session is None:
            self._session = InferenceSession(self.augmented_model_path, providers=self.execution_providers)
        return self._session

    @infer_session.setter
    def infer_session(self, session: Any) -> None:
        self._session = session

    def select_tensors_to_calibrate(self, model: Any) -> Tuple[set, Dict[str, Any]]:
        """(names, value infos): floats that enter or leave the chosen operators."""
        infos = {info.name: info for info in model.graph.value_info}
        infos.update({info.name: info for info in model.graph.output})
        infos.update({info.name: info for info in model.graph.input})
        constants = {tensor.name for tensor in model.graph.initializer}
        names = set()
        for node in model.graph.node:
            if not self.op_types_to_calibrate or node.op_type in self.op_types_to_calibrate:
                for name in [*node.input, *node.output]:
                    info = infos.get(name)
                    # FLOAT and FLOAT16.
                    if (info is not None and name not in constants and info.type.HasField("tensor_type")
                            and info.type.tensor_type.elem_type in (1, 10)):
                        names.add(name)
        return names, infos

    def get_augment_model(self) -> Any:
        return self.augment_model if self.augment_model is not None else self.model

    def augment_graph(self) -> None:
        """Makes the tensors outputs, and writes the model for readers that open it."""
        import onnx

        outputs = {info.name for info in self.model.graph.output}
        names, infos = self.select_tensors_to_calibrate(self.model)
        augmented = onnx.ModelProto()
        augmented.CopyFrom(self.model)
        for name in sorted(names - outputs):
            augmented.graph.output.append(infos[name])
        self._save(augmented)

    def _save(self, model: Any) -> None:
        import onnx

        self.augment_model = self.model = model
        onnx.save(model, str(self.augmented_model_path), save_as_external_data=self.use_external_data_format)

    def _options(self) -> Dict[str, Any]:
        return {"method": "minmax"}

    def collect_data(self, data_reader: Any) -> None:
        """Runs a reader's samples; what several calls ran adds up."""
        try:
            table = _table.calibrate(
                self._source, data_reader, progress=False, all=True, names=sorted(self._names),
                **{"symmetric": self.symmetric, **self._options()},
            )
        except ValueError as error:
            if "no samples are left" in str(error):
                if self._result is not None:
                    return
                raise ValueError("No data is collected.") from error
            raise
        self._result = table if self._result is None else self._result.merge(table)

    def _table(self) -> _table.Table:
        if self._result is None:
            raise ValueError("No data is collected.")
        return self._result

    def compute_data(self) -> TensorsData:
        """The ranges as TensorsData."""
        table = self._table()
        tensors = {
            name: TensorData(lowest=np.array(low, np.float32), highest=np.array(high, np.float32))
            for name, (low, high) in table.items()
        }
        if self.per_channel:
            for name, (low, high) in _channels(table).items():
                tensors[name] = _tensor_data(low, high, self.symmetric)
        return TensorsData(self.method, tensors)

    def compute_range(self) -> Dict[str, Tuple[float, float]]:
        """Up to 1.15: names to (min, max)."""
        return dict(self._table())

    def compute_ranges(self) -> Dict[str, Tuple[float, float]]:
        return self.compute_range()


def _channels(table: _table.Table) -> Dict[str, Tuple[Any, Any]]:
    """The extremes of each tensor's channels."""
    result = {}
    for name, known in table.statistics()["tensors"].items():
        if known["channel_axis"] != 1:
            raise NotImplementedError(f"per_channel: the channels of tensor '{name}' are not its second axis")
        result[name] = (np.array(known["channel_mins"], np.float64), np.array(known["channel_maxs"], np.float64))
    return result


def _tensor_data(low: Any, high: Any, symmetric: bool) -> TensorData:
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    if symmetric:
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high
    return TensorData(lowest=low, highest=high)


def chunks(reader: Any, size: int) -> Iterator[List[Any]]:
    """A reader's samples, some at a time."""
    part: List[Any] = []
    for item in iter(reader.get_next, None) if hasattr(reader, "get_next") else reader:
        if not item:
            break
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def move_ranges(old: Dict[str, Tuple[Any, Any]], new: Dict[str, Tuple[Any, Any]],
                constant: float) -> Dict[str, Tuple[Any, Any]]:
    """Ranges that have moved towards new ones by a share of the way."""
    moved = {name: (low + constant * (new[name][0] - low), high + constant * (new[name][1] - high))
             for name, (low, high) in old.items() if name in new}
    return {**new, **old, **moved}


class MinMaxCalibrater(CalibraterBase):
    """Extremes, or their moving average."""

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", symmetric: bool = False,
        use_external_data_format: bool = False, moving_average: bool = False, averaging_constant: float = 0.01,
        max_intermediate_outputs: Optional[int] = None, per_channel: bool = False,
    ) -> None:
        super().__init__(model_path, op_types_to_calibrate, augmented_model_path, symmetric,
                         use_external_data_format, per_channel)
        if moving_average and (averaging_constant < 0 or averaging_constant > 1):
            raise ValueError("Invalid averaging constant, which should not be < 0 or > 1.")
        self.moving_average, self.averaging_constant = moving_average, averaging_constant
        self._moved: Dict[str, Tuple[Any, Any]] = {}
        self.max_intermediate_outputs = max_intermediate_outputs
        self.num_model_outputs = len(self.model.graph.output)
        self.model_original_outputs = {output.name for output in self.model.graph.output}

    def augment_graph(self) -> None:
        """Adds ReduceMin and ReduceMax of each tensor as outputs."""
        import onnx
        from onnx import helper, numpy_helper

        names, infos = self.select_tensors_to_calibrate(self.model)
        augmented = onnx.ModelProto()
        augmented.CopyFrom(self.model)
        graph = augmented.graph
        shape_name = str(uuid.uuid4())
        graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), shape_name))
        for tensor in sorted(names):
            kind = infos[tensor].type.tensor_type.elem_type
            for op in ("ReduceMin", "ReduceMax"):
                result = f"{tensor}_{op}"
                between = f"{result}_Reshape"
                graph.node.append(helper.make_node(op, [tensor], [between], keepdims=1, name=result))
                graph.node.append(helper.make_node("Reshape", [between, shape_name], [result], name=between))
                graph.output.append(helper.make_tensor_value_info(result, kind, [None]))
        self._save(augmented)

    def _options(self) -> Dict[str, Any]:
        return {"method": "average" if self.moving_average else "minmax"}

    def collect_data(self, data_reader: Any) -> None:
        """With a moving average each call, or each max_intermediate_outputs samples of it, gives the means of its
        samples, which move what came before."""
        if not self.moving_average:
            super().collect_data(data_reader)
            return
        limit = self.max_intermediate_outputs
        for part in chunks(data_reader, limit) if limit else (data_reader,):
            new = self._channel_means(part) if self.per_channel else self._means(part)
            self._moved = move_ranges(self._moved, new, self.averaging_constant)
        if not self._moved:
            raise ValueError("No data is collected.")

    def _means(self, samples: Any) -> Dict[str, Tuple[Any, Any]]:
        self._result = None
        super().collect_data(samples)
        return dict(self._table())

    def _channel_means(self, samples: Any) -> Dict[str, Tuple[Any, Any]]:
        """Statistics have no averages of channels: those of one sample after the other are taken."""
        sums: Dict[str, Any] = {}
        count = 0
        for sample in chunks(samples, 1):
            self._result = None
            super().collect_data(sample)
            for name, pair in _channels(self._table()).items():
                sums[name] = sums.get(name, 0) + np.array(pair)
            count += 1
        return {name: (low / count, high / count) for name, (low, high) in sums.items()}

    def compute_data(self) -> TensorsData:
        if not self.moving_average:
            return super().compute_data()
        self._table()
        return TensorsData(self.method, {
            name: _tensor_data(low, high, self.symmetric) for name, (low, high) in self._moved.items()})

    def compute_range(self) -> Dict[str, Tuple[float, float]]:
        if not self.moving_average:
            return super().compute_range()
        return {name: (float(entry.lowest), float(entry.highest)) for name, entry in self.compute_data().items()}


class HistogramCalibrater(CalibraterBase):
    """Ranges from histograms, which hold all that was run."""

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", use_external_data_format: bool = False,
        method: str = "percentile", symmetric: bool = False, num_bins: int = 128, num_quantized_bins: int = 2048,
        percentile: float = 99.999, scenario: str = "same",
    ) -> None:
        super().__init__(model_path, op_types_to_calibrate, augmented_model_path, symmetric, use_external_data_format)
        self.intermediate_outputs: List[Any] = []
        self.num_bins, self.num_quantized_bins, self.percentile, self.scenario = (
            num_bins, num_quantized_bins, percentile, scenario)
        self._method = method
        if percentile < 0 or percentile > 100:
            raise ValueError("Invalid percentile. Must be in range 0 <= percentile <= 100.")

    def _options(self) -> Dict[str, Any]:
        # Bins are a power of two here; never fewer than were asked for.
        bins = 1 << max(4, int(np.ceil(np.log2(max(self.num_bins, 2)))))
        options: Dict[str, Any] = {"method": self._method, "bins": bins}
        if self._method == "entropy":
            options["quantized_bins"] = self.num_quantized_bins
        else:
            options["percentile"] = self.percentile
        return options

    def compute_data(self) -> TensorsData:
        data = super().compute_data()
        statistics = self._table().statistics().get("tensors", {})
        for name, entry in data.items():
            known = statistics.get(name, {}).get("histogram")
            if not known:
                continue
            counts = np.zeros(known["bins"], np.int64)
            counts[known["first"] : known["first"] + len(known["counts"])] = known["counts"]
            half = 2.0 ** known["exponent"]
            edges = np.linspace(-half, half, len(counts) + 1).astype(np.float32)
            data[name] = TensorData(lowest=entry.lowest, highest=entry.highest, hist=counts, hist_edges=edges)
        return data


class EntropyCalibrater(HistogramCalibrater):
    method = CalibrationMethod.Entropy

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", use_external_data_format: bool = False,
        method: str = "entropy", symmetric: bool = False, num_bins: int = 2048, num_quantized_bins: int = 128,
    ) -> None:
        super().__init__(model_path, op_types_to_calibrate, augmented_model_path, use_external_data_format,
                         method=method, symmetric=symmetric, num_bins=num_bins, num_quantized_bins=num_quantized_bins)


class PercentileCalibrater(HistogramCalibrater):
    method = CalibrationMethod.Percentile

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", use_external_data_format: bool = False,
        method: str = "percentile", symmetric: bool = False, num_bins: int = 2048, percentile: float = 99.999,
    ) -> None:
        super().__init__(model_path, op_types_to_calibrate, augmented_model_path, use_external_data_format,
                         method=method, symmetric=symmetric, num_bins=num_bins, percentile=percentile)

    def _options(self) -> Dict[str, Any]:
        # ORT's symmetric ranges end at the extremes that were seen.
        return {**super()._options(), "symmetric": False}


def _moments(hist: Any, edges: Any, scenario: str) -> Tuple[Any, Any]:
    """Average and deviation of what a histogram holds, of its cube roots in scenario p3."""
    share = hist / hist.sum()
    middles = (edges[:-1].astype(np.float64) + edges[1:]) / 2
    powers = np.sign(middles) * np.abs(middles) ** (1.0 if scenario == "same" else 1.0 / 3.0)
    average = (share * powers).sum()
    deviation = np.sqrt((share * (powers - average) ** 2).sum())
    return np.array(average, np.float32), np.array(deviation, np.float32)


class DistributionCalibrater(HistogramCalibrater):
    """Averages and deviations, for float8."""

    method = CalibrationMethod.Distribution

    def __init__(
        self, model_path: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
        augmented_model_path: Any = "augmented_model.onnx", use_external_data_format: bool = False,
        method: str = "distribution", num_bins: int = 128, scenario: str = "same",
    ) -> None:
        super().__init__(model_path, op_types_to_calibrate, augmented_model_path, use_external_data_format,
                         method="minmax", num_bins=num_bins, scenario=scenario)
        if scenario not in ("same", "p3"):
            raise ValueError("Invalid scenario. Must be in {'same', 'p3'}.")

    def _options(self) -> Dict[str, Any]:
        return {"method": "minmax", "histogram": True, "bins": 2048}

    def compute_data(self) -> TensorsData:
        data = super().compute_data()
        for name, entry in data.items():
            average, deviation = _moments(entry.hist, entry.hist_edges, self.scenario)
            data[name] = TensorData(avg=average, std=deviation, hist=entry.hist, hist_edges=entry.hist_edges,
                                    lowest=entry.lowest, highest=entry.highest)
        return data


_CLASSES = {
    CalibrationMethod.MinMax: MinMaxCalibrater, CalibrationMethod.Entropy: EntropyCalibrater,
    CalibrationMethod.Percentile: PercentileCalibrater, CalibrationMethod.Distribution: DistributionCalibrater,
}
_KEYS = {
    CalibrationMethod.MinMax: ("symmetric", "moving_average", "averaging_constant", "max_intermediate_outputs",
                               "per_channel"),
    CalibrationMethod.Entropy: ("num_bins", "num_quantized_bins", "symmetric"),
    CalibrationMethod.Percentile: ("num_bins", "percentile", "symmetric"),
    CalibrationMethod.Distribution: ("num_bins", "scenario"),
}


def create_calibrator(
    model: Any, op_types_to_calibrate: Optional[Sequence[str]] = None,
    augmented_model_path: Any = "augmented_model.onnx",
    calibrate_method: CalibrationMethod = CalibrationMethod.MinMax, use_external_data_format: bool = False,
    providers: Optional[Sequence[str]] = None, extra_options: Optional[Dict[str, Any]] = None,
) -> CalibraterBase:
    """A calibrator of a method; its augmented model has been written."""
    if calibrate_method not in _CLASSES:
        raise ValueError(f"Unsupported calibration method {calibrate_method}")
    given = dict(extra_options or {})
    if calibrate_method == CalibrationMethod.Percentile:
        given.setdefault("symmetric", True)
    keywords = {key: given[key] for key in _KEYS[calibrate_method] if key in given}
    calibrator = _CLASSES[calibrate_method](
        model, op_types_to_calibrate, augmented_model_path, use_external_data_format=use_external_data_format, **keywords
    )
    calibrator.augment_graph()
    calibrator.set_execution_providers(providers or ["CPUExecutionProvider"])
    return calibrator


def calibrate(
    model_path: Any, data_reader: Any, op_types: Sequence[str] = ("Conv", "MatMul"),
    black_nodes: Sequence[str] = (), white_nodes: Sequence[str] = (),
    augmented_model_path: Any = "augmented_model.onnx",
) -> Dict[str, List[Any]]:
    """1.5 and 1.6: names to [zero point as uint8, scale as float32]."""
    import onnx

    model = onnx.load(str(model_path))
    chosen = {
        name
        for node in model.graph.node
        if (node.op_type in op_types or node.name in white_nodes) and node.name not in black_nodes
        for name in [*node.input, *node.output]
    } - {tensor.name for tensor in model.graph.initializer}
    onnx.save(model, str(augmented_model_path))
    table = _table.calibrate(str(model_path), data_reader, progress=False, all=True, names=sorted(chosen))
    return ranges_to_parameters(model, table)


def ranges_to_parameters(model: Any, ranges: Any) -> Dict[str, List[Any]]:
    """Unsigned scales and zero points, narrowed by a Relu or Clip that alone
    reads a tensor."""
    from onnx import helper, numpy_helper

    readers: Dict[str, List[Any]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    result = {}
    for name, (low, high) in ranges.items():
        low, high = min(low, 0.0), max(high, 0.0)
        after = readers.get(name, [])
        if len(after) == 1 and after[0].op_type == "Relu":
            low = max(low, 0.0)
        elif len(after) == 1 and after[0].op_type == "Clip":
            bounds = {a.name: helper.get_attribute_value(a) for a in after[0].attribute}
            for place, key in ((1, "min"), (2, "max")):
                if len(after[0].input) > place and after[0].input[place] in constants:
                    bounds[key] = float(numpy_helper.to_array(constants[after[0].input[place]]))
            low, high = max(low, bounds.get("min", low)), min(high, bounds.get("max", high))
            low, high = min(low, 0.0), max(high, 0.0)
        scale = np.float32((high - low) / 255 if high != low else 1)
        zero = np.uint8(round(max(0, min(255, (0 - low) / scale))))
        result[name] = [zero, scale]
    return result


class HistogramCollector:
    """Histograms of arrays that are at hand: collect({name: [array, ...]})."""

    def __init__(self, method: str, symmetric: bool, num_bins: int, num_quantized_bins: int, percentile: float,
                 scenario: str = "same") -> None:
        if method not in ("percentile", "entropy", "distribution"):
            raise ValueError(f"method expects 'entropy', 'percentile' or 'distribution', but got '{method}'")
        self.histogram_dict: Dict[str, Any] = {}
        self.method, self.symmetric, self.num_bins = method, symmetric, num_bins
        self.num_quantized_bins, self.percentile, self.scenario = num_quantized_bins, percentile, scenario

    def get_histogram_dict(self) -> Dict[str, Any]:
        return self.histogram_dict

    def collect(self, name_to_arr: Dict[str, Any]) -> None:
        for name, arrays in name_to_arr.items():
            parts = arrays if isinstance(arrays, (list, tuple)) else [arrays]
            flat = np.concatenate([np.asarray(part).ravel() for part in parts])
            flat = flat[np.isfinite(flat)]
            if not flat.size:
                continue
            most = np.abs(flat).max()
            span = (-most, most) if self.symmetric or self.method == "entropy" else (flat.min(), flat.max())
            hist, edges = np.histogram(flat, bins=self.num_bins, range=span)
            old = self.histogram_dict.get(name)
            if old is not None:
                all_low, all_high = min(old[1][0], edges[0]), max(old[1][-1], edges[-1])
                edges = np.linspace(all_low, all_high, self.num_bins + 1)
                hist = sum(
                    np.histogram((e[:-1] + e[1:]) / 2, bins=edges, weights=h)[0]
                    for h, e in ((old[0], old[1]), (hist, np.histogram(flat, bins=self.num_bins, range=span)[1]))
                ).astype(np.int64)
                self.histogram_dict[name] = (hist, edges, min(old[2], flat.min()), max(old[3], flat.max()))
            else:
                self.histogram_dict[name] = (hist, edges, flat.min(), flat.max())

    def compute_percentile(self) -> Dict[str, Tuple[Any, Any, Any, Any]]:
        result = {}
        for name, (hist, edges, low, high) in self.histogram_dict.items():
            share = np.cumsum(hist / max(1, hist.sum()))
            cut = (1 - self.percentile / 100) / (1 if self.symmetric else 2)
            right = edges[np.searchsorted(share, 1 - cut if not self.symmetric else self.percentile / 100)]
            left = -right if self.symmetric else edges[np.searchsorted(share, cut)]
            result[name] = (np.float32(max(left, low)), np.float32(min(right, high)), hist, edges.astype(np.float32))
        return result

    def compute_entropy(self) -> Dict[str, Tuple[Any, Any, Any, Any]]:
        return {name: (*self.get_entropy_threshold(entry, self.num_quantized_bins), entry[0], entry[1].astype(np.float32))
                for name, entry in self.histogram_dict.items()}

    def get_entropy_threshold(self, histogram: Tuple[Any, ...], num_quantized_bins: int) -> Tuple[Any, Any]:
        """The range about zero whose quantized counts say most of all counts."""
        hist, edges, low, high = histogram[:4]
        counts, middle = hist.astype(np.float64), hist.size // 2
        best, range_ = np.inf, (edges[0], edges[-1])
        for half in range(num_quantized_bins // 2, middle + 1):
            start, end = middle - half, min(middle + half + 1, hist.size)
            inside = counts[start:end]
            p = inside.copy()
            p[0] += counts[:start].sum()
            p[-1] += counts[end:].sum()
            # Each step of the integers is spread over the bins that have something.
            steps = np.minimum(np.arange(inside.size) // max(1, inside.size // num_quantized_bins), num_quantized_bins - 1)
            sums, filled = (np.bincount(steps, weights, num_quantized_bins) for weights in (inside, p != 0))
            q = np.where(p != 0, (sums / np.maximum(filled, 1))[steps], 0)
            p, q = smooth_distribution(p), smooth_distribution(q)
            divergence = np.inf if p is None or q is None else float(entropy(p, q))
            if divergence < best:
                best, range_ = divergence, (edges[start], edges[end])
        return np.float32(max(range_[0], low)), np.float32(min(range_[1], high))

    def compute_distribution(self) -> Dict[str, "TensorData"]:
        result = {}
        for name, (hist, edges, low, high) in self.histogram_dict.items():
            average, deviation = _moments(hist, edges, self.scenario)
            result[name] = TensorData(avg=average, std=deviation, hist=hist, hist_edges=edges.astype(np.float32),
                                      lowest=np.array(low, np.float32), highest=np.array(high, np.float32))
        return result

    def compute_collection_result(self) -> Dict[str, Any]:
        if not self.histogram_dict:
            raise ValueError("Histogram has not been collected. Please run collect() first.")
        return getattr(self, f"compute_{self.method}")()  # type: ignore[no-any-return]
