"""A plain reference of ESP-DL's arithmetic in NumPy: what each operator of a .espdl model gives, by loops and shifts.

Takes a model as bench/espdl.py reads it, or as esp_files.py describes it. Nothing here is OnnxQuant's.
"""

import math

import numpy as np

LIMITS = {np.dtype(np.int8): (-128, 127), np.dtype(np.int16): (-32768, 32767)}


def shifted(v, shift, even):
    """R(v / 2^shift) of integers, one shift or one per element of the last axis."""
    v = np.asarray(v, np.int64)
    shift = np.broadcast_to(np.asarray(shift, np.int64), v.shape)
    left = v << np.maximum(-shift, 0)
    right = np.maximum(shift, 0)
    floor = v >> right
    rest = v - (floor << right)
    half = np.where(right > 0, 1 << np.maximum(right - 1, 0), 1 << 60)
    up = (rest > half) | ((rest == half) & ((floor & 1 == 1) if even else True))
    return np.where(shift <= 0, left, floor + up)


def saturated(v, dtype, low=None):
    least, most = LIMITS[np.dtype(dtype)]
    return np.clip(v, least if low is None else low, most).astype(dtype)


def plain_filter(flat, places, inputs, outputs, depthwise, block):
    """A packed filter as [places, inputs, outputs], depthwise [places, channels]."""
    channels = inputs if depthwise else outputs
    packed = channels // block * block if block else 0
    if depthwise:
        head = flat[: places * packed].reshape(-1, places, block or 1).transpose(1, 0, 2).reshape(places, packed)
        return np.concatenate([head, flat[places * packed :].reshape(places, channels - packed)], 1)
    size = places * inputs
    head = flat[: size * packed].reshape(-1, places, inputs, block or 1).transpose(1, 2, 0, 3)
    head = head.reshape(places, inputs, packed)
    tail = flat[size * packed :].reshape(channels - packed, places, inputs).transpose(1, 2, 0)
    return np.concatenate([head, tail], 2)


FUNCTIONS = {
    "Relu": lambda x, a: np.maximum(x, np.float32(0)),
    "LeakyRelu": lambda x, a: np.where(x < 0, np.float32(a.get("alpha", 0.01)) * x, x),
    "Sigmoid": lambda x, a: 1 / (1 + np.exp(-x)),
    "Tanh": lambda x, a: np.tanh(x),
    "HardSigmoid": lambda x, a: np.clip(
        np.float32(a.get("alpha", 0.2)) * x + np.float32(a.get("beta", 0.5)), np.float32(0), np.float32(1)
    ),
    "HardSwish": lambda x, a: x * np.clip(x + np.float32(3), np.float32(0), np.float32(6)) / np.float32(6),
    "Elu": lambda x, a: np.where(x < 0, np.float32(a.get("alpha", 1)) * (np.exp(x) - 1), x),
    "Gelu": lambda x, a: np.float32(0.5)
    * x
    * (
        1 + np.tanh(np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x))
        if a.get("approximate") == "tanh"
        else 1 + np.array([math.erf(v / math.sqrt(2)) for v in x.ravel()], np.float32).reshape(x.shape)
    ),
    "Swish": lambda x, a: x / (1 + np.exp(-np.float32(a.get("alpha", 1)) * x)),
    "Exp": lambda x, a: np.exp(x),
    "Log": lambda x, a: np.log(x),
    "Sqrt": lambda x, a: np.sqrt(x),
    "Neg": lambda x, a: -x,
    "Abs": lambda x, a: np.abs(x),
}

REDUCTIONS = {
    "ReduceProd": np.prod,
    "ReduceL1": lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
    "ReduceSumSquare": lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims),
    "ReduceLogSum": lambda x, axis, keepdims: np.log(x.sum(axis, keepdims=keepdims)),
    "ReduceLogSumExp": lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
}

COMPARISONS = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
}


class Reference:
    """One run of a model. `even`: ties go to even (esp32p4), or up. `block`: whether filters are packed."""

    def __init__(self, model, even, packed, interpolate=False):
        self.model, self.even, self.packed, self.interpolate = model, even, packed, interpolate
        self.values = {}

    # Operands of the current node.
    def raw(self, index):
        if index >= len(self.node.inputs) or not self.node.inputs[index]:
            return None
        name = self.node.inputs[index]
        return self.model.constants[name].array if name in self.model.constants else self.values[name]

    def exponents(self, index):
        name = self.node.inputs[index]
        found = self.model.constants[name].exponents if name in self.model.constants else self.model.exponents[name]
        return np.asarray(found or [0], np.int64)

    def exponent(self, index):
        return int(self.exponents(index)[0])

    def real(self, index):
        x = self.raw(index)
        if x is None or x.dtype not in LIMITS and not (x.dtype == np.int32 and self.exponent(index)):
            return x
        return x.astype(np.float32) * np.float32(2.0 ** self.exponent(index))

    def ints(self, index, name=None):
        x = self.raw(index)
        if x is not None:
            return [int(v) for v in np.ravel(x)]
        return self.attributes.get(name)

    def out(self, index=0):
        name = self.node.outputs[index]
        return np.dtype(self.model.types[name]), int((self.model.exponents[name] or [0])[0])

    def rounded(self, x):
        return np.rint(x) if self.even else np.floor(x + np.float32(0.5))

    def quantized(self, x, index=0):
        dtype, exponent = self.out(index)
        if dtype not in LIMITS:
            return x.astype(dtype)
        with np.errstate(all="ignore"):
            return saturated(np.nan_to_num(self.rounded(np.float32(x) * np.float32(2.0**-exponent))), dtype)

    def moved(self, x, source, index=0, low=None):
        """Requantized from an exponent."""
        dtype, exponent = self.out(index)
        return saturated(shifted(x, exponent - source, self.even), dtype, low)

    # Products.
    def block(self, x):
        return (16 if x.dtype == np.int8 else 8) if self.packed else 0

    def finish(self, total, index=2):
        bias = self.raw(index)
        if bias is not None:
            total = total + bias.astype(np.int64)
        dtype, exponent = self.out()
        total = shifted(total, exponent - self.exponent(0) - self.exponents(1), self.even)
        return saturated(total, dtype, 0 if self.attributes.get("activation") == "Relu" else None)

    def windows(self, x, kernel, strides, dilations, pads, fill):
        """Yields the elements under each place of a window: [N, out.., C]."""
        rank = len(kernel)
        x = np.pad(x, [(0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)] + [(0, 0)], constant_values=fill)
        sizes = [(x.shape[1 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
        for place in np.ndindex(*kernel):
            cut = [slice(None)]
            for i in range(rank):
                begin = place[i] * dilations[i]
                cut.append(slice(begin, begin + strides[i] * (sizes[i] - 1) + 1, strides[i]))
            yield x[tuple(cut)]

    def window_settings(self, kernel):
        rank = len(kernel)
        return (
            self.attributes.get("strides") or [1] * rank,
            self.attributes.get("dilations") or [1] * rank,
            list(self.attributes.get("pads") or [0] * (2 * rank)),
        )

    def Conv(self):
        x, w = self.raw(0), self.raw(1)
        kernel, depthwise = w.shape[:-2], self.attributes.get("group", 1) > 1
        added = x.ndim == len(kernel) + 1
        if added:
            x = x[None]
        places = int(np.prod(kernel))
        plain = plain_filter(w.ravel(), places, w.shape[-2], w.shape[-1], depthwise, self.block(w)).astype(np.int64)
        total = 0
        for place, part in enumerate(self.windows(x.astype(np.int64), kernel, *self.window_settings(kernel), 0)):
            total = total + (part * plain[place] if depthwise else part @ plain[place])
        y = self.finish(total)
        return y[0] if added else y

    def Gemm(self):
        x, w = self.raw(0), self.raw(1)
        inputs, outputs = int(np.prod(w.shape[:-1])), w.shape[-1]
        plain = plain_filter(w.ravel(), 1, inputs, outputs, False, self.block(w))[0].astype(np.int64)
        return self.finish(x.reshape(-1, inputs).astype(np.int64) @ plain)

    def MatMul(self):
        a, b = self.raw(0), self.raw(1)
        if b.ndim > 1:
            rows, columns = b.shape[-2:]
            parts = [
                plain_filter(flat, 1, rows, columns, False, self.block(b))[0] for flat in b.reshape(-1, rows * columns)
            ]
            b = np.stack(parts).reshape(b.shape)
        return self.finish(np.asarray(np.matmul(a.astype(np.int64), b.astype(np.int64))))

    # Two operands.
    def Add(self, sign=1):
        if self.raw(0).dtype not in LIMITS:
            return self.raw(0) + sign * self.raw(1)
        least = min(self.exponent(0), self.exponent(1))
        a, b = (self.raw(i).astype(np.int64) << (self.exponent(i) - least) for i in (0, 1))
        return self.moved(a + sign * b, least, low=0 if self.attributes.get("activation") == "Relu" else None)

    def Sub(self):
        return self.Add(-1)

    def Mul(self):
        if self.raw(0).dtype not in LIMITS:
            return self.raw(0) * self.raw(1)
        product = self.raw(0).astype(np.int64) * self.raw(1)
        return self.moved(product, self.exponent(0) + self.exponent(1))

    def Div(self):
        a, b = self.raw(0), self.raw(1)
        if a.dtype not in LIMITS:
            return a / b
        dtype, exponent = self.out()
        scale = np.float32(2.0 ** (self.exponent(0) - self.exponent(1) - exponent))
        with np.errstate(all="ignore"):
            ratio = np.where(a == 0, np.float32(0), np.float32(a) / np.float32(b) * scale)
            return saturated(np.clip(self.rounded(ratio), -1e6, 1e6), dtype)

    def Mod(self):
        with np.errstate(all="ignore"):
            return self.quantized(np.fmod(self.real(0), self.real(1)))

    def Pow(self):
        with np.errstate(all="ignore"):
            return self.quantized(np.power(self.real(0), self.real(1)))

    def compare(self):
        a, b = self.raw(0), self.raw(1)
        if a.dtype in LIMITS:
            a, b = self.real(0).astype(np.float64), self.real(1).astype(np.float64)
        return COMPARISONS[self.node.op](a, b).astype(self.out()[0])

    # Windows.
    def AveragePool(self):
        x, kernel = self.raw(0), self.attributes["kernel_shape"]
        added = x.ndim == len(kernel) + 1
        if added:
            x = x[None]
        strides, _, pads = self.window_settings(kernel)
        pads = self.ceiled(x, kernel, strides, pads)
        wide = x.astype(np.int64 if x.dtype in LIMITS else np.float32)
        total = sum(self.windows(wide, kernel, strides, [1] * len(kernel), pads, 0))
        area = np.float32(np.prod(kernel))
        if x.dtype not in LIMITS:
            y = total / area
        else:
            dtype, exponent = self.out()
            scale = np.float32(2.0 ** self.exponent(0)) * (np.float32(1) / area)
            scale = np.float32(scale * np.float32(2.0**-exponent))
            y = saturated(self.rounded(total.astype(np.float32) * scale), dtype)
        return y[0] if added else y

    def ceiled(self, x, kernel, strides, pads):
        for i in range(len(kernel)):
            span = x.shape[1 + i] + pads[i] + pads[len(kernel) + i] - kernel[i]
            if self.attributes.get("ceil_mode", 0) and span % strides[i]:
                pads[len(kernel) + i] += strides[i] - span % strides[i]
        return pads

    def GlobalAveragePool(self):
        x = self.raw(0)
        axes = tuple(range(1, x.ndim - 1))
        if x.dtype not in LIMITS:
            return x.mean(axes, keepdims=True)
        dtype, exponent = self.out()
        area = np.float32(np.prod([x.shape[i] for i in axes]))
        scale = np.float32(2.0 ** self.exponent(0)) * (np.float32(1) / area)
        scale = np.float32(scale * np.float32(2.0**-exponent))
        return saturated(self.rounded(x.astype(np.int64).sum(axes, keepdims=True).astype(np.float32) * scale), dtype)

    def MaxPool(self):
        x, kernel = self.raw(0), self.attributes["kernel_shape"]
        added = x.ndim == len(kernel) + 1
        if added:
            x = x[None]
        strides, dilations, pads = self.window_settings(kernel)
        pads = self.ceiled(x, kernel, strides, pads)
        fill = LIMITS[x.dtype][0] if x.dtype in LIMITS else -np.inf
        y = np.max(list(self.windows(x, kernel, strides, dilations, pads, fill)), 0)
        return y[0] if added else y

    def reduce(self):
        x, op = self.raw(0), self.node.op
        axes = self.ints(1, "axes") or list(range(x.ndim))
        axes, keeps = tuple(a % x.ndim for a in axes), bool(self.attributes.get("keepdims", 1))
        if op in ("ReduceMax", "ReduceMin"):
            y = (np.max if op == "ReduceMax" else np.min)(x, axes, keepdims=keeps)
            return self.moved(y, self.exponent(0)) if x.dtype in LIMITS else y
        if op in ("ReduceSum", "ReduceMean"):
            if x.dtype not in LIMITS:
                return (np.sum if op == "ReduceSum" else np.mean)(x, axes, keepdims=keeps)
            total = x.astype(np.int64).sum(axes, keepdims=keeps).astype(np.float32)
            total = np.float32(total * np.float32(2.0 ** self.exponent(0)))
            if op == "ReduceMean":
                total = np.float32(total / np.float32(np.prod([x.shape[a] for a in axes])))
            return self.quantized(total)
        with np.errstate(all="ignore"):
            return self.quantized(REDUCTIONS[op](self.real(0), axis=axes, keepdims=keeps))

    def Resize(self):
        x = self.raw(0)
        shape = self.model.shapes[self.node.outputs[0]]
        if self.attributes.get("mode", "nearest") == "nearest":
            for axis in range(1, x.ndim - 1):
                step = np.float32(x.shape[axis]) / np.float32(shape[axis])
                places = [min(int(np.float32(o) * step), x.shape[axis] - 1) for o in range(shape[axis])]
                x = x.take(places, axis)
            return self.moved(x, self.exponent(0)) if x.dtype in LIMITS else x
        corners = self.attributes.get("coordinate_transformation_mode") == "align_corners"
        value = self.real(0)
        for axis in range(x.ndim - 2, 0, -1):
            size, wanted = value.shape[axis], shape[axis]
            if corners:
                step = np.float32(size - 1) / np.float32(wanted - 1) if wanted > 1 else np.float32(0)
            else:
                step = np.float32(size) / np.float32(wanted)
            rows = []
            for o in range(wanted):
                at = np.float32(o) * step if corners else (np.float32(o) + np.float32(0.5)) * step - np.float32(0.5)
                first = math.floor(at)
                share = np.float32(at - first)
                if first < 0:
                    first, share = 0, np.float32(0)
                if first >= size - 1:
                    first, share = size - 2, np.float32(1)
                left, right = (value.take(first + i, axis) for i in (0, 1))
                rows.append(left * (np.float32(1) - share) + right * share)
            value = np.stack(rows, axis)
        return self.quantized(value)

    # Functions.
    def by_table(self, table, x):
        if x.dtype == np.int8:
            return table[x.astype(np.int64) + 128]
        step = 65536 // (table.size - 1)
        place = x.astype(np.int64) + 32768
        if self.interpolate:
            wide, index, rest = table.astype(np.int64), place // step, place % step
            change = wide[np.minimum(index + 1, table.size - 1)] - wide[index]
            return (wide[index] + np.trunc(rest * change / step).astype(np.int64)).astype(table.dtype)
        return table[shifted(place, step.bit_length() - 1, self.even)]

    def unary(self):
        x, table = self.raw(0), self.model.constants.get(self.attributes.get("lut"))
        if table is not None and (x.dtype == np.int8 or self.node.op in ("LUT", "Gelu")):
            return self.by_table(table.array, x)
        with np.errstate(all="ignore"):
            return self.quantized(FUNCTIONS[self.node.op](self.real(0), self.attributes).astype(np.float32))

    def Clip(self):
        table = self.model.constants.get(self.attributes.get("lut"))
        if table is not None and self.raw(0).dtype == np.int8:
            return self.by_table(table.array, self.raw(0))
        y = self.real(0)
        for index, name, function in ((1, "min", np.maximum), (2, "max", np.minimum)):
            bound = self.real(index)
            if bound is None:
                bound = self.attributes.get(name)
            if bound is not None:
                y = function(y, np.float32(np.ravel(bound)[0]))
        return self.quantized(y)

    def PRelu(self):
        x, table = self.raw(0), self.model.constants.get(self.attributes.get("lut"))
        if table is not None and x.dtype == np.int8:
            return self.by_table(table.array, x)
        slopes, wide = self.raw(1).astype(np.int64), x.astype(np.int64)
        if slopes.size == x.shape[-1] or slopes.size == 1:
            slopes = slopes.ravel()
        dtype, exponent = self.out()
        plain = shifted(wide, exponent - self.exponent(0), self.even)
        scaled = shifted(wide * slopes, exponent - self.exponent(0) - self.exponent(1), self.even)
        return saturated(np.where(wide < 0, scaled, plain), dtype)

    def quantizer(self):
        x = self.raw(0)
        if x.dtype in LIMITS and self.out()[0] in LIMITS:
            return self.moved(x.astype(np.int64), self.exponent(0))
        return self.quantized(self.real(0))

    def Softmax(self):
        x = self.raw(0)
        axis = self.attributes.get("axis", -1)
        value = self.real(0)
        if x.dtype != np.int8:
            value = value - value.max(axis, keepdims=True)
        power = np.exp(value)
        return self.quantized(power / power.sum(axis, keepdims=True))

    def LogSoftmax(self):
        value, axis = self.real(0), self.attributes.get("axis", -1)
        value = value - value.max(axis, keepdims=True)
        return self.quantized(value - np.log(np.exp(value).sum(axis, keepdims=True)))

    # Normalizations.
    def LayerNormalization(self):
        x = self.real(0)
        axes = tuple(range(self.attributes.get("axis", -1) % x.ndim, x.ndim))
        centred = x - x.mean(axes, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axes, keepdims=True) + np.float32(self.attributes.get("epsilon", 1e-5)))
        y = centred / deviation
        for index, function in ((1, np.multiply), (2, np.add)):
            operand = self.real(index)
            y = y if operand is None else function(y, operand)
        return self.quantized(y)

    def RMSNormalization(self):
        x = self.real(0)
        axes = tuple(range(self.attributes.get("axis", -1) % x.ndim, x.ndim))
        y = x / np.sqrt((x * x).mean(axes, keepdims=True) + np.float32(self.attributes.get("epsilon", 1e-5)))
        return self.quantized(y if self.raw(1) is None else y * self.real(1))

    def LpNormalization(self):
        x, axis = self.real(0), self.attributes.get("axis", -1)
        if self.attributes.get("p", 2) == 1:
            norm = np.abs(x).sum(axis, keepdims=True)
        else:
            norm = np.sqrt((x * x).sum(axis, keepdims=True))
        with np.errstate(all="ignore"):
            return self.quantized(np.where(norm == 0, np.float32(0), x / norm))

    # Recurrent layers.
    def recurrent(self):
        """Step by step: sums of products and cells have 16 bits at the gates' exponent, states their own."""
        gate, gates = self.attributes.get("gate_exponent", -8), 4 if self.node.op == "LSTM" else 3
        x, w, r, b = (self.raw(i) for i in range(4))
        steps, batch, hidden = x.shape[0], x.shape[1], r.shape[-1]
        kind, exponent = self.out(0 if self.node.outputs[0] else 1)
        one, state_scale, gate_scale = np.float32(1), np.float32(2.0**exponent), np.float32(2.0**gate)

        def product(a, matrix, exponents):
            total = shifted(a.astype(np.int64) @ matrix.astype(np.int64).T, gate - exponents, self.even)
            return saturated(total, np.int16).astype(np.float32) * gate_scale

        def rounded(real, scale, dtype):
            return saturated(self.rounded(real / scale), dtype).astype(np.float32)

        sigmoid = lambda v: FUNCTIONS["Sigmoid"](v, {})  # noqa: E731
        count = 2 if self.attributes.get("direction", "forward") == "bidirectional" else 1
        bias = np.zeros((count, 2, gates * hidden), np.float32)
        if b is not None:
            bias = self.real(3).reshape(bias.shape)
        states, cells = (np.zeros((count, batch, hidden), np.float32) for _ in range(2))
        if self.raw(5) is not None:
            states = rounded(self.real(5), state_scale, kind)
        if gates == 4 and self.raw(6) is not None:
            cells = rounded(self.real(6), gate_scale, np.int16) * gate_scale
        everything = np.zeros((steps, count, batch, hidden), np.float32)
        for d in range(count):
            h, c, (near, far) = states[d], cells[d], bias[d]
            for t in range(steps)[:: -1 if d else 1]:
                here = product(x[t], w[d], self.exponent(0) + self.exponent(1))
                behind = product(h, r[d], exponent + self.exponent(2))
                if gates == 4:
                    i, o, f, n = np.split(here + behind + (near + far), 4, 1)
                    c = rounded(sigmoid(f) * c + sigmoid(i) * np.tanh(n), gate_scale, np.int16) * gate_scale
                    real = sigmoid(o) * np.tanh(c)
                else:
                    z, reset = np.split(sigmoid((here + behind + (near + far))[:, : 2 * hidden]), 2, 1)
                    n = (here + near)[:, 2 * hidden :] + reset * (behind + far)[:, 2 * hidden :]
                    n = np.tanh(rounded(n, gate_scale, np.int16) * gate_scale)
                    real = (one - z) * n + z * (h * state_scale)
                h = rounded(real, state_scale, kind)
                everything[t, d] = h
            states[d], cells[d] = h, c
        found = [everything.astype(kind), states.astype(kind), None]
        if gates == 4 and len(self.node.outputs) > 2 and self.node.outputs[2]:
            found[2] = self.quantized(cells, 2)
        return [y if name else None for y, name in zip(found, self.node.outputs)]

    # Moves.
    def reshaped(self):
        x, shape = self.raw(0), self.model.shapes[self.node.outputs[0]]
        # Streaming models are declared with the whole sequence, and run on some frames.
        if self.node.op == "Flatten" and x.size != np.prod(shape):
            return x.reshape(int(np.prod(x.shape[: self.attributes.get("axis", 1)])), -1)
        return x.reshape(shape)

    def Transpose(self):
        return self.raw(0).transpose(self.attributes.get("perm"))

    def Slice(self):
        x = self.raw(0)
        starts, ends = self.ints(1, "starts"), self.ints(2, "ends")
        axes = self.ints(3, "axes") or list(range(len(starts)))
        steps = self.ints(4, "steps") or [1] * len(starts)
        cut = [slice(None)] * x.ndim
        for start, end, axis, step in zip(starts, ends, axes, steps):
            end = None if step < 0 and end < -x.shape[axis] else end
            cut[axis] = slice(start, end, step)
        return x[tuple(cut)]

    def Gather(self):
        y = self.raw(0).take(self.raw(1), self.attributes.get("axis", 0))
        return y.reshape(self.model.shapes[self.node.outputs[0]])

    def Concat(self):
        return np.concatenate([self.raw(i) for i in range(len(self.node.inputs))], self.attributes.get("axis", 1))

    def Pad(self):
        x = self.raw(0)
        pads = self.ints(1, "pads")
        axes = self.ints(3, "axes") or list(range(x.ndim))
        width = [(0, 0)] * x.ndim
        for i, axis in enumerate(axes):
            width[axis] = (pads[i], pads[len(axes) + i])
        mode = self.attributes.get("mode", "constant")
        if mode != "constant":
            return np.pad(x, width, mode=mode)
        fill = self.raw(2)
        return np.pad(x, width, constant_values=0 if fill is None or not fill.size else fill.ravel()[0])

    def Split(self):
        x, axis = self.raw(0), self.attributes.get("axis", 0)
        sizes = self.ints(1, "split")
        if not sizes:
            each = -(-x.shape[axis] // len(self.node.outputs))
            sizes = [min(each, x.shape[axis] - i * each) for i in range(len(self.node.outputs))]
        return np.split(x, np.cumsum(sizes)[:-1], axis)

    def ReverseSequence(self):
        x, lengths = self.raw(0), self.ints(1)
        batch, time = self.attributes.get("batch_axis", 1), self.attributes.get("time_axis", 0)
        y = np.moveaxis(x, (batch, time), (0, 1)).copy()
        for row, length in enumerate(lengths):
            y[row, :length] = y[row, :length][::-1].copy()
        return np.moveaxis(y, (0, 1), (batch, time))

    def ScatterND(self):
        y, indices, updates = self.raw(0).copy(), self.raw(1), self.raw(2)
        for place in np.ndindex(*indices.shape[:-1]):
            y[tuple(indices[place])] = updates[place]
        return y

    def DepthToSpace(self):
        x, block = self.raw(0), self.attributes["blocksize"]
        n, h, w, c = x.shape
        if self.attributes.get("mode", "DCR") == "DCR":
            y = x.reshape(n, h, w, block, block, c // block**2).transpose(0, 1, 3, 2, 4, 5)
        else:
            y = x.reshape(n, h, w, c // block**2, block, block).transpose(0, 1, 4, 2, 5, 3)
        return y.reshape(n, h * block, w * block, c // block**2)

    def SpaceToDepth(self):
        x, block = self.raw(0), self.attributes["blocksize"]
        n, h, w, c = x.shape
        y = x.reshape(n, h // block, block, w // block, block, c).transpose(0, 1, 3, 2, 4, 5)
        return y.reshape(n, h // block, w // block, block**2 * c)

    def InsertZeros(self):
        x, strides = self.raw(0), self.attributes["stride"]
        extra = self.attributes.get("output_padding") or [0] * len(strides)
        sizes = [n + (s - 1) * (n - 1) + e for n, s, e in zip(x.shape[1:], strides, extra)]
        y = np.zeros((x.shape[0], *sizes, x.shape[-1]), x.dtype)
        cut = tuple(slice(0, s * (n - 1) + 1, s) for n, s in zip(x.shape[1:], strides))
        y[(slice(None), *cut)] = x
        return y

    def StreamingCache(self):
        x, axis = self.raw(0), self.attributes["frame_axis"]
        shape = list(x.shape)
        shape[axis] = self.attributes["window_size"] - 1
        return np.concatenate([np.zeros(shape, x.dtype), x], axis)

    def rule(self):
        op = self.node.op
        if op in FUNCTIONS or op == "LUT":
            return self.unary
        if op in COMPARISONS:
            return self.compare
        if op.startswith("Reduce"):
            return self.reduce
        if op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"):
            return self.reshaped
        if op in ("QuantizeLinear", "DequantizeLinear", "RequantizeLinear"):
            return self.quantizer
        return self.recurrent if op in ("GRU", "LSTM") else getattr(self, op)

    def run(self, inputs):
        self.values.update(inputs)
        for node in self.model.nodes:
            self.node, self.attributes = node, node.attributes
            found = self.rule()()
            for name, y in zip(node.outputs, found if isinstance(found, list) else [found]):
                if name:
                    self.values[name] = np.asarray(y)
        return {name: self.values[name] for name in self.model.outputs}
