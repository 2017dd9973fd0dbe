"""Completes overrides of types: an operator reads and writes one type, so that
its neighbours are converted.

An override that gives a tensor another type than the rest asks for that type
in all that its producer and its readers read or write. Where a tensor's
producer and its readers then differ, a second quantizer is put between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set

from ...tensor_quant_overrides import QuantTypeInfo, TensorQuantOverridesHelper


@dataclass
class TensorTypeRequest:
    """The types that a tensor's producer and some of its readers want."""

    producer: Optional[QuantTypeInfo] = None
    consumer: Optional[QuantTypeInfo] = None
    consumers: Set[str] = field(default_factory=set)


class MixedPrecisionTensorQuantOverridesFixer:
    def __init__(self, overrides: TensorQuantOverridesHelper, producers: Dict[str, Any],
                 consumers: Dict[str, List[Any]], value_infos: Dict[str, Any], initializers: Dict[str, Any]) -> None:
        self.overrides, self.producers, self.consumers = overrides, producers, consumers
        self.value_infos, self.initializers = value_infos, initializers

    @staticmethod
    def create_from_model(overrides: TensorQuantOverridesHelper, model: Any,
                          default_activation_qtype: Any) -> "MixedPrecisionTensorQuantOverridesFixer":
        import onnx

        graph = onnx.shape_inference.infer_shapes(model).graph
        infos = {info.name: info for infos in (graph.value_info, graph.output, graph.input) for info in infos}
        producers = {name: node for node in graph.node for name in node.output}
        consumers: Dict[str, List[Any]] = {}
        for node in graph.node:
            for name in filter(None, node.input):
                consumers.setdefault(name, []).append(node)
        fixer = MixedPrecisionTensorQuantOverridesFixer(
            overrides, producers, consumers, infos, {tensor.name: tensor for tensor in graph.initializer})
        fixer._check(default_activation_qtype)
        return fixer

    def _check(self, default: Any) -> None:
        valid, reason = self.overrides.is_valid(self.initializers, set(self.value_infos), default)
        if not valid:
            raise ValueError(reason)

    def apply(self, default_activation_qtype: Any, default_activation_symmetric: bool) -> None:
        """Adds to the overrides what follows from them."""
        requests = self.get_desired_tensor_types(default_activation_qtype, default_activation_symmetric)
        for tensor, request in requests.items():
            self._meet(tensor, request, default_activation_qtype)
        self._check(default_activation_qtype)

    def _meet(self, tensor: str, request: TensorTypeRequest, default: Any) -> None:
        readers = {node.name for node in self.consumers.get(tensor, [])}
        if request.consumer is None:
            assert request.producer is not None
            self._convert(tensor, request.producer, QuantTypeInfo(default), readers)
            return
        made = request.producer or self.overrides.get_node_output_qtype_info(tensor, default)
        if made != request.consumer:
            self._convert(tensor, made, request.consumer, request.consumers)
            return
        if request.producer is None:
            if not self._reads_original(tensor, request.consumers):
                raise ValueError(f"Tensor override for '{tensor}' converts the type for consumers that need the "
                                 "original type.")
            return
        rest = readers - request.consumers
        if rest:
            self._convert(tensor, made, QuantTypeInfo(default), rest)
        elif tensor not in self.overrides:
            entry: Dict[str, Any] = {}
            made.save_to_dict(entry)
            self.overrides[tensor] = [entry]

    def get_desired_tensor_types(self, default_activation_qtype: Any,
                                 default_activation_symmetric: bool) -> Dict[str, TensorTypeRequest]:
        default = QuantTypeInfo(default_activation_qtype, default_activation_symmetric)
        requests: Dict[str, TensorTypeRequest] = {}
        for tensor, entries in self.overrides.items():
            if not self._is_float(tensor) or tensor in self.initializers or len(entries) != 1:
                continue
            wanted = QuantTypeInfo.load_from_dict(entries[0], default.quant_type)
            if wanted == default or "convert" in entries[0]:
                continue
            makers = [self.producers[tensor]] if tensor in self.producers else []
            for node in [*makers, *self.consumers.get(tensor, [])]:
                self._ask(requests, wanted, node)
        return requests

    def _ask(self, requests: Dict[str, TensorTypeRequest], wanted: QuantTypeInfo, node: Any) -> None:
        for name in filter(self._is_float, node.output):
            request = requests.setdefault(name, TensorTypeRequest())
            if request.producer is not None and request.producer != wanted:
                raise ValueError(f"Tensor {name} has multiple types.")
            request.producer = wanted
        for name in filter(self._is_float, node.input):
            if name in self.initializers:
                continue
            request = requests.setdefault(name, TensorTypeRequest())
            if request.consumer is not None and request.consumer != wanted:
                raise ValueError(f"Tensor {name} has consumers requesting different types.")
            request.consumer = wanted
            request.consumers.add(node.name)

    def _convert(self, tensor: str, made: QuantTypeInfo, wanted: QuantTypeInfo, readers: Set[str]) -> None:
        """Converts a tensor for its readers, or sees that this is so already."""
        if tensor not in self.overrides or not self.overrides[tensor]:
            self.overrides[tensor] = [{}]
            made.save_to_dict(self.overrides[tensor][0])
        entry = self.overrides[tensor][0]
        if QuantTypeInfo.load_from_dict(entry, made.quant_type) != made:
            raise ValueError(f"Tensor override for '{tensor}' needs another type than it is given.")
        if not readers:
            return
        if "convert" not in entry:
            convert: Dict[str, Any] = {}
            wanted.save_to_dict(convert)
            convert["recv_nodes"] = set(readers)
            entry["convert"] = convert
            return
        convert = entry["convert"]
        if QuantTypeInfo.load_from_dict(convert, convert["quant_type"]) != wanted:
            raise ValueError(f"Tensor override for '{tensor}' converts to another type than its readers need.")
        if "recv_nodes" in convert:
            convert["recv_nodes"] = set(convert["recv_nodes"]) | set(readers)

    def _reads_original(self, tensor: str, readers: Set[str]) -> bool:
        entries = self.overrides.get(tensor) or [{}]
        convert = entries[0].get("convert")
        return convert is None or "recv_nodes" in convert and not readers & set(convert["recv_nodes"])

    def _is_float(self, name: str) -> bool:
        tensor = self.initializers.get(name)
        if tensor is not None:
            return tensor.data_type in (1, 10)
        info = self.value_infos.get(name)
        return (info is not None and info.type.HasField("tensor_type")
                and info.type.tensor_type.elem_type in (1, 10))
