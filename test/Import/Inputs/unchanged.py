#!/usr/bin/python3
"""Tells whether a model that was taken there and back is the one it was.

    unchanged.py BEFORE.onnx AFTER.onnx

Attributes may come in another order, tensors in another form of storage and without a
name inside of attributes, value infos may be added, and node names filled in.
"""

import sys

import onnx
from onnx import numpy_helper


def plain_tensor(tensor, named):
    raw = numpy_helper.to_array(tensor).tobytes()
    plain = onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=raw, doc_string=tensor.doc_string)
    if named:
        plain.name = tensor.name
    tensor.CopyFrom(plain)


def plain(graph):
    for tensor in graph.initializer:
        plain_tensor(tensor, named=True)
    for node in graph.node:
        attributes = sorted(node.attribute, key=lambda attribute: attribute.name)
        del node.attribute[:]
        node.attribute.extend(attributes)
        for attribute in node.attribute:
            if attribute.HasField("t"):
                plain_tensor(attribute.t, named=False)
            for tensor in attribute.tensors:
                plain_tensor(tensor, named=False)
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                plain(inner)


def drop_new_infos(before, after):
    """Value infos that only the second model has."""
    known = {info.name for info in before.value_info}
    kept = [info for info in after.value_info if info.name in known]
    del after.value_info[:]
    after.value_info.extend(kept)
    for one, other in zip(before.node, after.node):
        for a, b in zip(one.attribute, other.attribute):
            if a.HasField("g") and b.HasField("g"):
                drop_new_infos(a.g, b.g)
            for inner, outer in zip(a.graphs, b.graphs):
                drop_new_infos(inner, outer)


before, after = (onnx.load(path) for path in sys.argv[1:])
plain(before.graph)
plain(after.graph)
drop_new_infos(before.graph, after.graph)
if before != after:
    print(before, after, sep="\n=== and\n")
    sys.exit("the models differ")
print("unchanged")
