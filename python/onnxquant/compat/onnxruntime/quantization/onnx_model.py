"""A ModelProto with what programs ask of it."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional

from .quant_utils import find_by_name


class ONNXModel:
    """A model's graph: look things up, add, remove, sort, save."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def nodes(self) -> Any:
        return self.model.graph.node

    def initializer(self) -> Any:
        return self.model.graph.initializer

    def initializer_extend(self, tensors: Iterable[Any]) -> None:
        self.model.graph.initializer.extend(tensors)

    def graph(self) -> Any:
        return self.model.graph

    def ir_version(self) -> int:
        return int(self.model.ir_version)

    def opset_import(self) -> Any:
        return self.model.opset_import

    def set_opset_import(self, domain: str, version: int) -> None:
        for opset in self.model.opset_import:
            if opset.domain == domain:
                opset.version = version
                return
        entry = self.model.opset_import.add()
        entry.domain, entry.version = domain, version

    def remove_node(self, node: Any) -> None:
        if node in self.model.graph.node:
            self.model.graph.node.remove(node)

    def remove_nodes(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            self.remove_node(node)

    def add_node(self, node: Any) -> None:
        self.model.graph.node.extend([node])

    def add_nodes(self, nodes: Iterable[Any]) -> None:
        self.model.graph.node.extend(nodes)

    def add_initializer(self, tensor: Any) -> None:
        if find_by_name(tensor.name, self.model.graph.initializer) is None:
            self.model.graph.initializer.extend([tensor])

    def get_initializer(self, name: str) -> Any:
        return find_by_name(name, self.model.graph.initializer)

    def get_initializer_name_set(self) -> set:
        return {tensor.name for tensor in self.model.graph.initializer}

    def remove_initializer(self, tensor: Any) -> None:
        if tensor in self.model.graph.initializer:
            self.model.graph.initializer.remove(tensor)
            for info in self.model.graph.input:
                if info.name == tensor.name:
                    self.model.graph.input.remove(info)
                    break

    def remove_initializers(self, tensors: Iterable[Any]) -> None:
        for tensor in list(tensors):
            self.remove_initializer(tensor)

    def get_non_initializer_inputs(self) -> set:
        constants = self.get_initializer_name_set()
        return {info.name for info in self.model.graph.input if info.name not in constants}

    def input_name_to_nodes(self) -> Dict[str, List[Any]]:
        result: Dict[str, List[Any]] = {}
        for node in self.model.graph.node:
            for name in node.input:
                if name:
                    result.setdefault(name, []).append(node)
        return result

    def output_name_to_node(self) -> Dict[str, Any]:
        return {name: node for node in self.model.graph.node for name in node.output if name}

    def get_children(self, node: Any, input_name_to_nodes: Optional[Dict[str, List[Any]]] = None) -> List[Any]:
        known = input_name_to_nodes or self.input_name_to_nodes()
        return [child for name in node.output for child in known.get(name, [])]

    def get_parents(self, node: Any, output_name_to_node: Optional[Dict[str, Any]] = None) -> List[Any]:
        known = output_name_to_node or self.output_name_to_node()
        return [known[name] for name in node.input if name in known]

    def get_parent(self, node: Any, idx: int, output_name_to_node: Optional[Dict[str, Any]] = None) -> Any:
        known = output_name_to_node or self.output_name_to_node()
        return known.get(node.input[idx]) if idx < len(node.input) else None

    def find_node_by_name(self, node_name: str, new_nodes_list: List[Any], graph: Any) -> Any:
        return find_by_name(node_name, [*graph.node, *new_nodes_list])

    def find_nodes_by_initializer(self, graph: Any, initializer: Any) -> List[Any]:
        return [node for node in graph.node if initializer.name in node.input]

    def get_largest_node_name_suffix(self, node_name_prefix: str) -> int:
        largest = -1
        for node in self.nodes():
            tail = node.name[len(node_name_prefix) :] if node.name.startswith(node_name_prefix) else ""
            if tail.isdigit():
                largest = max(largest, int(tail))
        return largest

    def get_nodes_initializer(self) -> Any:
        return self.initializer()

    def is_graph_output(self, name: str) -> bool:
        return any(info.name == name for info in self.model.graph.output)

    def is_graph_input(self, name: str) -> bool:
        return any(info.name == name for info in self.model.graph.input)

    @staticmethod
    def replace_node_input(node: Any, old: str, new: str) -> None:
        for place, name in enumerate(node.input):
            if name == old:
                node.input[place] = new

    @staticmethod
    def replace_node_output(node: Any, old: str, new: str) -> None:
        for place, name in enumerate(node.output):
            if name == old:
                node.output[place] = new

    def replace_input_of_all_nodes(self, old: str, new: str) -> None:
        for node in self.model.graph.node:
            self.replace_node_input(node, old, new)

    def replace_output_of_all_nodes(self, old: str, new: str) -> None:
        for node in self.model.graph.node:
            self.replace_node_output(node, old, new)

    def replace_gemm_with_matmul(self) -> None:
        """Gemm with alpha and beta 1 and no transposed A as MatMul and Add."""
        from onnx import helper, numpy_helper

        nodes = []
        for node in self.model.graph.node:
            values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            simple = (node.op_type == "Gemm" and values.get("alpha", 1.0) == 1.0 and values.get("beta", 1.0) == 1.0
                      and not values.get("transA", 0))
            right = node.input[1] if simple else ""
            if simple and values.get("transB", 0):
                tensor = self.get_initializer(right)
                if tensor is not None:
                    alone = not any(right in other.input for other in self.model.graph.node if other != node)
                    turned = numpy_helper.from_array(numpy_helper.to_array(tensor).T.copy(),
                                                     right if alone else f"{right}_Transposed")
                    if alone:
                        self.remove_initializer(tensor)
                        _turn_shape(find_by_name(right, self.model.graph.value_info))
                    self.add_initializer(turned)
                    right = turned.name
                else:
                    turned_name = f"{right}_Transposed"
                    nodes.append(helper.make_node("Transpose", [right], [turned_name], name=f"{node.name}_Transpose"))
                    right = turned_name
            if not simple:
                nodes.append(node)
                continue
            has_bias = len(node.input) > 2
            product = f"{node.output[0]}_MatMul" if has_bias else node.output[0]
            name = f"{node.name}_MatMul" if node.name else ""
            nodes.append(helper.make_node("MatMul", [node.input[0], right], [product], name=name))
            if has_bias:
                nodes.append(helper.make_node("Add", [product, node.input[2]], [node.output[0]],
                                              name=f"{node.name}_Add" if node.name else ""))
        self.model.graph.ClearField("node")
        self.model.graph.node.extend(nodes)

    def clean_initializers(self) -> Any:
        return _clean_initializers_helper(self.graph(), self.model)

    def topological_sort(self) -> None:
        """Producers before their readers, by their distance from the inputs."""
        graph = self.model.graph
        made = {name for node in graph.node for name in node.output if name}
        ready: set = set()
        waiting = list(graph.node)
        result: List[Any] = []
        while waiting:
            # One step from the inputs after the other.
            now = [node for node in waiting if all(name in ready or name not in made for name in _needs(node))]
            if not now:
                raise RuntimeError("Graph is not a DAG")
            result += now
            waiting = [node for node in waiting if all(node is not one for one in now)]
            for node in now:
                ready.update(node.output)
        graph.ClearField("node")
        graph.node.extend(result)

    def save_model_to_file(self, output_path: Any, use_external_data_format: bool = False) -> None:
        import onnx

        self.topological_sort()
        path = os.fspath(output_path)
        if use_external_data_format:
            data = f"{path}.data"
            if os.path.exists(data):
                os.unlink(data)
            copy = onnx.ModelProto()
            copy.CopyFrom(self.model)
            onnx.save_model(copy, path, save_as_external_data=True, all_tensors_to_one_file=True,
                            location=os.path.basename(data))
            return
        onnx.save_model(self.model, path)


def _turn_shape(info: Any) -> None:
    """What is said of a matrix, of its transpose."""
    if info is not None and len(info.type.tensor_type.shape.dim) == 2:
        dims = info.type.tensor_type.shape.dim
        first, second = type(dims[0])(), type(dims[0])()
        first.CopyFrom(dims[1])
        second.CopyFrom(dims[0])
        dims[0].CopyFrom(first)
        dims[1].CopyFrom(second)


def _needs(node: Any) -> List[str]:
    names = list(node.input)
    for attribute in node.attribute:
        for graph in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
            names += [name for inner in graph.node for name in _needs(inner)]
    return names


def _clean_initializers_helper(graph: Any, model: Any) -> Any:
    """Removes initializers that nothing reads, in subgraphs too."""
    used = {info.name for info in graph.output}
    for node in graph.node:
        used.update(_needs(node))
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                used.update(info.name for info in inner.output)
                _clean_initializers_helper(inner, model)
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)
        for info in [info for info in graph.input if info.name == tensor.name]:
            graph.input.remove(info)
    return graph, []
