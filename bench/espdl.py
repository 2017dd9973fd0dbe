"""Reads .espdl files, without OnnxQuant: containers that aren't encrypted, constants, nodes, test values."""

import struct

import numpy as np

TYPES = {1: np.float32, 3: np.int8, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_}


class Table:
    """A table of a FlatBuffer: fields by number."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.fields = place - struct.unpack_from("<i", data, place)[0]

    def at(self, number):
        size = struct.unpack_from("<H", self.data, self.fields)[0]
        offset = 4 + 2 * number
        if offset + 2 > size:
            return 0
        found = struct.unpack_from("<H", self.data, self.fields + offset)[0]
        return self.place + found if found else 0

    def number(self, number, form="<i", otherwise=0):
        place = self.at(number)
        return struct.unpack_from(form, self.data, place)[0] if place else otherwise

    def behind(self, number):
        place = self.at(number)
        return place + struct.unpack_from("<I", self.data, place)[0] if place else 0

    def vector(self, number):
        """The place of the first element, and how many there are."""
        place = self.behind(number)
        return (place + 4, struct.unpack_from("<I", self.data, place)[0]) if place else (0, 0)

    def text(self, number):
        place, count = self.vector(number)
        return bytes(self.data[place:place + count]).decode()

    def numbers(self, number, form="q"):
        place, count = self.vector(number)
        return list(struct.unpack_from(f"<{count}{form}", self.data, place)) if count else []

    def table(self, number):
        place = self.behind(number)
        return Table(self.data, place) if place else None

    def places(self, number):
        place, count = self.vector(number)
        return [at + struct.unpack_from("<I", self.data, at)[0] for at in range(place, place + 4 * count, 4)]

    def tables(self, number):
        return [Table(self.data, place) for place in self.places(number)]

    def texts(self, number):
        found = []
        for place in self.places(number):
            count = struct.unpack_from("<I", self.data, place)[0]
            found.append(bytes(self.data[place + 4:place + 4 + count]).decode())
        return found


class Tensor:
    def __init__(self, table, block):
        self.name, self.layout = table.text(6), table.text(7)
        self.exponents = table.numbers(13)
        dims, kind = table.numbers(0), TYPES[table.number(1)]
        place, count = table.vector(8)
        raw = table.data[place:place + count * block]
        size = int(np.prod(dims)) if dims else 1
        self.array = np.frombuffer(raw, kind, size).reshape(dims)


class Value:
    """What is said of a tensor: name, exponents, type and shape."""

    def __init__(self, table):
        self.name, self.exponents = table.text(0), table.numbers(3)
        tensor = table.table(1).table(1)
        self.type = np.dtype(TYPES[tensor.number(0)])
        self.shape = [dim.table(0).number(1, "<q") for dim in tensor.table(1).tables(0)]


class Node:
    def __init__(self, table):
        self.inputs, self.outputs, self.name, self.op = table.texts(0), table.texts(1), table.text(2), table.text(3)
        self.attributes = {}
        for attribute in table.tables(5):
            kind, name = attribute.number(3), attribute.text(0)
            if kind == 1:
                self.attributes[name] = attribute.number(4, "<f", 0.0)
            elif kind == 2:
                self.attributes[name] = attribute.number(5, "<q")
            elif kind == 3:
                self.attributes[name] = attribute.text(6)
            elif kind == 7:
                self.attributes[name] = attribute.numbers(11)


class Model:
    def __init__(self, path):
        data = memoryview(path.read_bytes())
        if bytes(data[:4]) != b"EDL2" or struct.unpack_from("<I", data, 4)[0]:
            raise ValueError(f"{path}: isn't a plain EDL2 file")
        body = data[16:]
        root = Table(body, struct.unpack_from("<I", body, 0)[0])
        graph = root.table(7)
        self.nodes = [Node(table) for table in graph.tables(0)]
        self.constants = {t.name: t for t in (Tensor(table, 16) for table in graph.tables(2))}
        self.inputs, self.outputs = ([v.text(0) for v in graph.tables(number)] for number in (4, 5))
        values = [Value(table) for number in (4, 5, 6) for table in graph.tables(number)]
        self.exponents, self.types, self.shapes = (
            {v.name: getattr(v, field) for v in values} for field in ("exponents", "type", "shape"))
        self.test_inputs = {t.name: t for t in (Tensor(table, 16) for table in graph.tables(8))}
        self.test_outputs = {t.name: t for t in (Tensor(table, 16) for table in graph.tables(9))}
