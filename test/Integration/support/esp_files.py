"""Writes .espdl files field by field, without OnnxQuant: for forms that its own writer never makes."""

import struct
from types import SimpleNamespace

import numpy as np

TYPES = {np.float32: 1, np.int8: 3, np.int16: 5, np.int32: 6, np.int64: 7, np.bool_: 9}
NUMBERS = {np.dtype(kind): number for kind, number in TYPES.items()}
SIZES = {"b": 1, "i": 4, "f": 4, "q": 8, "ref": 4}


class Buffer:
    """A FlatBuffer, written forwards: every table before what it refers to."""

    def __init__(self):
        self.data = bytearray(4)

    def align(self, to, ahead=0):
        while (len(self.data) + ahead) % to:
            self.data.append(0)

    def refer(self, place, write):
        """Writes something and lets the offset at `place` show it."""
        target = write()
        struct.pack_into("<I", self.data, place, target - place)

    def table(self, fields):
        """Fields by number: (kind, value); a reference's value is what writes it."""
        order = sorted(fields, key=lambda number: -SIZES[fields[number][0]])
        offsets, size = {}, 4
        for number in order:
            width = SIZES[fields[number][0]]
            size += -size % width
            offsets[number] = size
            size += width
        count = max(fields, default=-1) + 1
        self.align(2)
        start = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * count, size)
        self.data += b"".join(struct.pack("<H", offsets.get(number, 0)) for number in range(count))
        self.align(8)
        place = len(self.data)
        self.data += struct.pack("<i", place - start) + bytes(size - 4)
        for number, (kind, value) in fields.items():
            if kind != "ref":
                struct.pack_into("<" + kind, self.data, place + offsets[number], value)
        for number, (kind, value) in fields.items():
            if kind == "ref":
                self.refer(place + offsets[number], value)
        return place

    def vector(self, values, kind="q"):
        self.align(4)
        self.align(SIZES[kind], 4)
        place = len(self.data)
        self.data += struct.pack(f"<I{len(values)}{kind}", len(values), *values)
        return place

    def bytes(self, data, block=1):
        self.align(4)
        self.align(block, 4)
        place = len(self.data)
        self.data += struct.pack("<I", -(-len(data) // block)) + data + bytes(-len(data) % block)
        return place

    def text(self, text):
        place = self.bytes(text.encode())
        self.data.append(0)
        return place

    def list(self, writers):
        self.align(4)
        place = len(self.data)
        self.data += struct.pack("<I", len(writers)) + bytes(4 * len(writers))
        for index, write in enumerate(writers):
            self.refer(place + 4 + 4 * index, write)
        return place


def constant(array, *exponents, layout="UNK"):
    return SimpleNamespace(array=np.asarray(array), exponents=list(exponents) or [0], layout=layout)


class Model:
    """A model in parts: constants, values and nodes, then inputs, outputs and their test values."""

    def __init__(self, target="esp32s3"):
        self.nodes, self.constants, self.exponents, self.types, self.shapes = [], {}, {}, {}, {}
        self.inputs, self.outputs, self.tests, self.target = [], [], {}, target

    def value(self, name, dtype, shape, exponent=0):
        self.types[name], self.shapes[name], self.exponents[name] = np.dtype(dtype), list(shape), [exponent]
        return name

    def node(self, op, inputs, outputs, **attributes):
        made = SimpleNamespace(op=op, inputs=inputs, outputs=outputs, name=f"{op}_{len(self.nodes)}", attributes=attributes)
        self.nodes.append(made)

    # What a buffer's writers give.
    def _tensor(self, b, name, array, exponents, layout, block):
        array = np.ascontiguousarray(array)
        return b.table({
            0: ("ref", lambda: b.vector(array.shape)), 1: ("i", NUMBERS[array.dtype]), 6: ("ref", lambda: b.text(name)),
            7: ("ref", lambda: b.text(f"layout ==> {layout}")), 8: ("ref", lambda: b.bytes(array.tobytes(), block)),
            13: ("ref", lambda: b.vector(exponents)),
        })

    def _value(self, b, name):
        def dimension(size):
            value = lambda: b.table({0: ("b", 1), 1: ("q", size)})
            return b.table({0: ("ref", value)})

        sizes = [lambda size=size: dimension(size) for size in self.shapes[name]]
        shape = lambda: b.table({0: ("ref", lambda: b.list(sizes))})
        tensor = lambda: b.table({0: ("i", NUMBERS[self.types[name]]), 1: ("ref", shape)})
        kind = lambda: b.table({0: ("b", 1), 1: ("ref", tensor)})
        exponents = lambda: b.vector(self.exponents[name])
        return b.table({0: ("ref", lambda: b.text(name)), 1: ("ref", kind), 3: ("ref", exponents)})

    def _attribute(self, b, name, value):
        fields = {0: ("ref", lambda: b.text(name))}
        if isinstance(value, float):
            fields.update({3: ("i", 1), 4: ("f", value)})
        elif isinstance(value, int):
            fields.update({3: ("i", 2), 5: ("q", value)})
        elif isinstance(value, str):
            fields.update({3: ("i", 3), 6: ("ref", lambda: b.bytes(value.encode()))})
        else:
            fields.update({3: ("i", 7), 11: ("ref", lambda: b.vector(value))})
        return b.table(fields)

    def _node(self, b, node):
        texts = lambda names: lambda: b.list([lambda n=n: b.text(n) for n in names])
        attributes = [lambda n=n, v=v: self._attribute(b, n, v) for n, v in sorted(node.attributes.items())]
        return b.table({
            0: ("ref", texts(node.inputs)), 1: ("ref", texts(node.outputs)), 2: ("ref", lambda: b.text(node.name)),
            3: ("ref", lambda: b.text(node.op)), 5: ("ref", lambda: b.list(attributes)),
        })

    def bytes(self, magic=b"EDL2"):
        b, block = Buffer(), 1 if magic == b"EDL1" else 16
        tensors = lambda found: lambda: b.list(
            [lambda n=n, t=t: self._tensor(b, n, t.array, t.exponents, t.layout, block) for n, t in found.items()])
        values = lambda names: lambda: b.list([lambda n=n: self._value(b, n) for n in names])
        tests = {n: constant(array, *self.exponents[n]) for n, array in self.tests.items()}
        graph = lambda: b.table({
            0: ("ref", lambda: b.list([lambda n=n: self._node(b, n) for n in self.nodes])),
            1: ("ref", lambda: b.text("forms")), 2: ("ref", tensors(self.constants)), 4: ("ref", values(self.inputs)),
            5: ("ref", values(self.outputs)), 6: ("ref", values(self.types)),
            8: ("ref", tensors({n: tests[n] for n in self.inputs})), 9: ("ref", tensors({n: tests[n] for n in self.outputs})),
        })
        entry = lambda: b.table({0: ("ref", lambda: b.text("target")), 1: ("ref", lambda: b.text(self.target))})
        metadata = {8: ("ref", lambda: b.list([entry]))} if self.target else {}
        root = {0: ("i", 8), 5: ("q", 0), 7: ("ref", graph), **metadata}
        b.refer(0, lambda: b.table(root))
        body = bytes(b.data)
        if magic == b"EDL1":
            return magic + struct.pack("<II", 0, len(body)) + body
        return magic + struct.pack("<III", 0, len(body), 0) + body
