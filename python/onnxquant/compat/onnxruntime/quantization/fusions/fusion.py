"""Finds expressions in a graph and puts one node in their place.

A pattern is a name, which any tensor answers to (the same everywhere), a
number, which a constant of that value does, or a tuple of an operator and the
patterns of its inputs. Sums and products match in either order.
"""

from __future__ import annotations

import itertools
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from ..onnx_model import ONNXModel

Pattern = Union[str, float, Tuple[Any, ...]]
_EITHER_ORDER = ("Add", "Mul")


class Match:
    """What names stand for, and the nodes that were met."""

    def __init__(self, names: Optional[Dict[str, str]] = None, nodes: Optional[List[Any]] = None) -> None:
        self.names = names or {}
        self.nodes = nodes or []

    def node(self, op_type: str) -> Any:
        """The first node of an operator, from the result on."""
        return next(node for node in self.nodes if node.op_type == op_type)


class Fusion:
    """One operator in the place of others: `patterns` and `build` say which."""

    patterns: List[Pattern] = []
    domain = ""

    def __init__(self, model: ONNXModel, fused_op_type: str, search_op_type: str) -> None:
        self.model = model
        self.fused_op_type, self.search_op_type = fused_op_type, search_op_type
        self._values: Dict[str, Any] = {}

    def build(self, match: Match) -> Optional[Tuple[List[str], Dict[str, Any]]]:
        """Inputs and attributes of the fused node, or None if it isn't one."""
        raise NotImplementedError

    def apply(self) -> bool:
        """Fuses all that match; True if there was one."""
        from onnx import helper, numpy_helper

        self._values = {tensor.name: tensor for tensor in self.model.initializer()}
        for node in self.model.nodes():
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self._values[node.output[0]] = node.attribute[0].t
        self._to_array = numpy_helper.to_array
        changed = False
        if not any(node.op_type == self.search_op_type for node in self.model.nodes()):
            return False
        for last in list(self.model.nodes()):
            if last not in self.model.nodes():
                continue
            match = self._find(last)
            fused = self.build(match) if match else None
            if not fused or not match:
                continue
            inputs, attributes = fused
            number = self.model.get_largest_node_name_suffix(f"{self.fused_op_type}_") + 1
            node = helper.make_node(self.fused_op_type, inputs, [last.output[0]],
                                    name=f"{self.fused_op_type}_{number}", domain=self.domain, **attributes)
            place = list(self.model.nodes()).index(last)
            self.model.nodes().insert(place, node)
            self.model.remove_nodes(match.nodes)
            changed = True
        if changed:
            self.model.clean_initializers()
            if self.domain:
                self.model.set_opset_import(self.domain, 1)
        return changed

    def constant(self, name: str) -> Any:
        """A constant as an array, or None."""
        return self._to_array(self._values[name]) if name in self._values else None

    def attribute(self, node: Any, name: str, otherwise: Any = None) -> Any:
        from onnx import helper

        return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), otherwise)

    def axes(self, node: Any) -> List[int]:
        """The axes of a reduction, which an attribute or an input holds."""
        given = self.attribute(node, "axes")
        if given is None and len(node.input) > 1:
            given = self.constant(node.input[1])
        return [int(axis) for axis in given] if given is not None else []

    def _find(self, last: Any) -> Optional[Match]:
        producers, readers = self.model.output_name_to_node(), self.model.input_name_to_nodes()
        for pattern in self.patterns:
            for match in self._match(pattern, last.output[0] if last.output else "", Match(), producers):
                if match.nodes and match.nodes[0] is last and self._is_closed(match, last, readers):
                    return match
        return None

    def _match(self, pattern: Pattern, name: str, so_far: Match, producers: Dict[str, Any]) -> Iterator[Match]:
        if isinstance(pattern, str):
            if so_far.names.get(pattern, name) == name:
                yield Match({**so_far.names, pattern: name}, so_far.nodes)
            return
        if not isinstance(pattern, tuple):
            value = self.constant(name)
            if value is not None and value.size == 1 and abs(float(value.ravel()[0]) - pattern) <= 1e-3 * abs(pattern):
                yield so_far
            return
        node = producers.get(name)
        parts = pattern[1:]
        if node is None or node.op_type != pattern[0] or len(node.input) < len(parts):
            return
        orders = itertools.permutations(parts) if pattern[0] in _EITHER_ORDER else [parts]
        for order in orders:
            met = so_far.nodes if any(one is node for one in so_far.nodes) else [*so_far.nodes, node]
            matches = [Match(so_far.names, met)]
            for part, operand in zip(order, node.input):
                matches = [longer for one in matches for longer in self._match(part, operand, one, producers)]
            yield from matches

    def _is_closed(self, match: Match, last: Any, readers: Dict[str, List[Any]]) -> bool:
        """Whether nothing else reads what lies between."""
        for node in match.nodes:
            if node is last:
                continue
            for name in node.output:
                if self.model.is_graph_output(name) or any(
                        all(reader is not one for one in match.nodes) for reader in readers.get(name, [])):
                    return False
        return True
