"""Every operator of ESP-DL next to a plain reference: as `esp quantize` writes it, and in forms that only other writers make."""

import json
import sys

import numpy as np
import onnx

from support import esp_cases
from support import esp_files
from support.esp_reference import FUNCTIONS, LIMITS, Reference
from support.harness import ONNXQ, ROOT, run

sys.path.insert(0, str(ROOT / "bench"))
import espdl  # noqa: E402

# Computed in float32 between quantized tensors, where the order of sums may turn a rounding.
IN_FLOAT = ("LayerNormalization", "RMSNormalization", "LpNormalization", "GRU", "LSTM", "Mod", "Pow", "LogSoftmax", "Softmax",
            "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare", "Div", "Exp", "Log",
            "Sigmoid", "Tanh", "Elu", "Gelu", "Swish")


def difference(got, expected, loose):
    """What is wrong with an output; `loose` lets 2 of 100 values be 1 off, and floats by 2e-5."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
    if got.dtype.kind == "f":
        worst = np.abs(got - expected).max(initial=0)
        return f"off by {worst}" if not worst <= 2e-5 else None
    apart = np.abs(got.astype(np.int64) - expected.astype(np.int64))
    if not apart.any() or (loose and apart.max() == 1 and apart.sum() <= max(1, 0.02 * apart.size)):
        return None
    place = np.unravel_index(apart.argmax(), apart.shape)
    return f"{(apart > 0).sum()} of {apart.size} differ, at {place} {got[place]} instead of {expected[place]}"


def nearness(got, expected):
    noise = ((got - expected) ** 2).sum()
    return 10 * np.log10((expected**2).sum() / noise) if noise else np.inf


def check_tables(tally, label, model, even):
    """Tables hold the function of each input, rounded once."""
    for node in model.nodes:
        table = model.constants.get(node.attributes.get("lut"))
        if table is None or node.op not in FUNCTIONS:
            continue
        half, step = (128, 1) if table.array.dtype == np.int8 else (32768, 65536 // (table.array.size - 1))
        x = np.arange(-half, half + (step > 1), step).astype(np.float32)
        with np.errstate(all="ignore"):
            y = FUNCTIONS[node.op](x * np.float32(2.0 ** model.exponents[node.inputs[0]][0]), node.attributes)
            y = np.nan_to_num(y.astype(np.float32) * np.float32(2.0 ** -table.exponents[0]), posinf=1e9, neginf=-1e9)
        wanted = np.clip(np.rint(y) if even else np.floor(y + np.float32(0.5)), *LIMITS[table.array.dtype])
        problem = difference(table.array, wanted.astype(table.array.dtype), loose=True)
        tally.result(f"{label} table of {node.name}", problem)


def check_recurrent(tally, label, model):
    """Recurrent layers are written with what the runtime reads: biases and cells of 16 bits at 2^-9, states of one exponent."""
    for node in model.nodes:
        if node.op not in ("GRU", "LSTM"):
            continue
        kind = lambda name: model.constants[name].array.dtype if name in model.constants else model.types[name]
        exponent = lambda name: (model.constants[name].exponents if name in model.constants else model.exponents[name])[0]
        wide = [name for place, name in enumerate(node.inputs) if name and place in (3, 6)] + node.outputs[2:]
        states = [name for name in node.outputs[:2] + node.inputs[5:6] if name]
        problems = [f"{name} is {kind(name)} at {exponent(name)}" for name in wide if (kind(name), exponent(name)) != (np.int16, -9)]
        if len({(kind(name), exponent(name)) for name in states}) != 1:
            problems.append(f"states {[(name, exponent(name)) for name in states]}")
        if node.attributes.get("gate_exponent") != -9 or len(node.outputs) != (3 if node.op == "LSTM" else 2):
            problems.append(f"{node.attributes}, {node.outputs}")
        if "activations" in node.attributes or (node.op == "GRU" and node.attributes.get("linear_before_reset") != 1):
            problems.append(f"{node.attributes}")
        tally.result(f"{label} form of {node.name}", "; ".join(problems))


def written(tally, folder, chip, bits, parts):
    """Cases in one file: its test values are the reference's, and near to what the float model gives."""
    even, packed = chip == "esp32p4", chip != "esp32c3"
    label = f"{chip} {bits} bits"
    cases = esp_cases.build(parts, wide=bits == 16)
    model, made = folder / "cases.onnx", folder / "cases.espdl"
    onnx.save(cases.model(), model)
    rng = np.random.default_rng(5)
    samples = [cases.sample(rng) for _ in range(4)]
    data = folder / f"cases_{chip}_{bits}"
    for number, sample in enumerate(samples):
        place = data / f"test_data_set_{number}"
        place.mkdir(parents=True, exist_ok=True)
        for index, (name, array) in enumerate(sample.items()):
            (place / f"input_{index}.pb").write_bytes(onnx.numpy_helper.from_array(array, name).SerializeToString())
    outcome = run([ONNXQ, "esp", "quantize", model, "--data", data, "--method", "minmax", "--chip", chip, "--bits", str(bits),
                   "--test-values", "--quiet", "-o", made], timeout=300)
    if outcome.status:
        return tally.result(label, f"{outcome.ended()}: {outcome.stderr.strip()[-600:]}")
    device = espdl.Model(made)
    check_tables(tally, label, device, even)
    check_recurrent(tally, label, device)
    inputs = {name: tensor.array for name, tensor in device.test_inputs.items()}
    expected = Reference(device, even, packed).run(inputs)
    real_folder = folder / "real"
    outcome = run([ONNXQ, "run", model, *(f"--input={data}/test_data_set_0/input_{i}.pb" for i in range(len(cases.inputs))),
                   "--output-dir", real_folder, "--quiet"], timeout=120)
    if outcome.status:
        return tally.result(label, f"{outcome.ended()}: {outcome.stderr.strip()[-600:]}")
    ops = {name: node.op for node in device.nodes for name in node.outputs}
    for case, names in cases.names.items():
        problems = []
        for name in names:
            got = device.test_outputs[name].array.reshape(device.shapes[name])
            problem = difference(got, expected[name], ops[name] in IN_FLOAT)
            real = np.load(real_folder / f"{name}.npy")
            if not problem and cases.nearness[case] is not None:
                value = got if got.dtype.kind == "f" else got * 2.0 ** device.exponents[name][0]
                if value.shape != real.shape:
                    value = np.moveaxis(value, -1, 1)
                db = nearness(value.reshape(real.shape), real)
                wanted = cases.nearness[case] + (20 if bits == 16 else 0)
                problem = f"{db:.1f} dB near to float, not {wanted}" if db < wanted else None
            problems += [f"{name}: {problem}"] if problem else []
        tally.result(f"{label} {case}", "; ".join(problems))


def random_integers(rng, dtype, shape):
    return rng.integers(*LIMITS[np.dtype(dtype)], shape, endpoint=True).astype(dtype)


def forms(target, magic, seed):
    """A model with what other writers make: no batch, no defaults, mixed widths, float nodes, unequal exponents."""
    rng, m = np.random.default_rng(seed), esp_files.Model(target)
    i8, i16, f32 = np.int8, np.int16, np.float32
    packed = target != "esp32c3"

    def x(dtype, *shape, exponent=-5):
        name = m.value(f"x{len(m.inputs)}", dtype, shape, 0 if dtype == f32 else exponent)
        m.inputs.append(name)
        m.tests[name] = rng.standard_normal(shape).astype(f32) if dtype == f32 else random_integers(rng, dtype, shape)
        return name

    def c(array, *exponents, layout="UNK"):
        name = f"c{len(m.constants)}"
        m.constants[name] = esp_files.constant(array, *exponents, layout=layout)
        return name

    def w(dtype, *shape, exponents=(-6,), depthwise=False):
        block = 16 if dtype == i8 else 8
        channels = shape[-2] if depthwise else shape[-1]
        rest = "_UNALIGNED" if channels % block else ""
        layout = f"(N/{block})HWC{block}{rest}" if packed else "HWCN" if depthwise else "NHWC"
        return c(random_integers(rng, dtype, shape) // (1 if dtype == i8 else 16), *exponents, layout=layout)

    def bias(dtype, count, *exponents):
        return c(rng.integers(-9000, 9000, count).astype(dtype), *exponents)

    def y(op, inputs, dtype, *shape, exponent=-3, **attributes):
        name = m.value(f"y{len(m.outputs)}", dtype, shape, 0 if dtype in (f32, np.bool_) else exponent)
        m.outputs.append(name)
        m.node(op, inputs, [name], **attributes)
        return name

    # Convolutions: without a batch, without defaults, left shifts, an exponent per channel, 8-bit weights for 16 bits.
    window = {"pads": [1, 1, 1, 1], "strides": [2, 1], "dilations": [1, 1], "group": 1, "quant_type": "S8"}
    y("Conv", [x(i8, 7, 6, 5), w(i8, 3, 3, 5, 18), bias(np.int32, 18, -11)], i8, 4, 6, 18, activation="Relu", **window)
    y("Conv", [x(i8, 1, 4, 5, 16), w(i8, 1, 1, 16, 32)], i8, 1, 4, 5, 32, exponent=-2)
    y("Conv", [x(i8, 1, 4, 4, 3), w(i8, 2, 2, 3, 4)], i16, 1, 3, 3, 4, exponent=-13)
    y("Conv", [x(i8, 1, 5, 5, 20), w(i8, 3, 3, 20, 1, exponents=range(-26, -6), depthwise=True), bias(np.int32, 20, *range(-31, -11))],
      i8, 1, 3, 3, 20, exponent=-6, group=20)
    y("Conv", [x(i16, 1, 9, 8, exponent=-10), w(i16, 3, 8, 11), bias(np.int32, 11, -16)], i16, 1, 4, 11, exponent=-9,
      strides=[2], quant_type="S16", activation="Linear")
    y("Conv", [x(i16, 1, 4, 5, 6, exponent=-10), w(i8, 2, 2, 6, 17), bias(np.int64, 17, -16)], i16, 1, 3, 4, 17, exponent=-8,
      quant_type="W8A16")
    y("Gemm", [x(i8, 2, 3, 8), w(i8, 1, 1, 24, 9), bias(np.int32, 9, -11)], i8, 2, 9, exponent=-1, quant_type="S8")
    y("Gemm", [x(i16, 3, 40, exponent=-11), w(i16, 1, 1, 40, 12), bias(np.int64, 12, -17)], i16, 3, 12, exponent=-6)
    y("MatMul", [x(i16, 2, 4, 10, exponent=-11), w(i16, 10, 19)], i16, 2, 4, 19, exponent=-7)
    # Pools and images without a batch.
    y("AveragePool", [x(i8, 7, 6, 5)], i8, 4, 4, 5, exponent=-5, kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 0])
    y("AveragePool", [x(i16, 1, 6, 5, 4, exponent=-9)], i16, 1, 4, 2, 4, exponent=-10, kernel_shape=[3, 3], strides=[1, 2], pads=[0, 0, 0, 0])
    y("GlobalAveragePool", [x(i16, 1, 5, 7, 9, exponent=-9)], i16, 1, 1, 1, 9, exponent=-11)
    y("MaxPool", [x(i16, 6, 5, 4)], i16, 5, 4, 4, exponent=-5, kernel_shape=[2, 2])
    y("DepthToSpace", [x(i16, 1, 3, 2, 8)], i16, 1, 6, 4, 2, exponent=-5, blocksize=2)
    y("Resize", [x(i8, 1, 3, 4, 5), "", c(np.array([1, 1, 2, 2], f32))], i8, 1, 6, 8, 5, exponent=-4, mode="nearest")
    y("InsertZeros", [x(i16, 1, 3, 4, 5)], i16, 1, 6, 11, 5, exponent=-5, stride=[2, 3], output_padding=[1, 1])
    y("StreamingCache", [x(i8, 1, 3, 5)], i8, 1, 7, 5, exponent=-5, window_size=5, frame_axis=1)
    # Two operands: unequal exponents, widths that differ from the result's, floats.
    y("Add", [x(i8, 4, 5, exponent=-7), x(i8, 5, exponent=-4)], i8, 4, 5, exponent=-3)
    y("Sub", [x(i16, 4, 1, exponent=-9), x(i16, 1, 6, exponent=-11)], i16, 4, 6, exponent=-8)
    y("Mul", [x(i8, 3, 4), x(i8, 3, 4)], i8, 3, 4, exponent=-11)
    y("Mul", [x(i16, 2, 3, 4, exponent=-9), x(i16, 1, exponent=-12)], i16, 2, 3, 4, exponent=-7)
    y("Div", [x(i8, 3, 9), x(i8, 3, 9, exponent=-4)], i8, 3, 9, exponent=-2)
    y("Div", [x(i16, 9, exponent=-8), x(i16, 1, exponent=-9)], i16, 9, exponent=-9)
    for op in ("Add", "Sub", "Mul", "Div"):
        y(op, [x(f32, 2, 3), x(f32, 3)], f32, 2, 3, quant_type="F32")
    for op in ("Equal", "Greater", "LessOrEqual"):
        y(op, [x(i8, 4, 30), x(i8, 4, 1)], np.bool_, 4, 30)
        y(op, [x(i16, 20, exponent=-8), x(i16, 20, exponent=-9)], i8, 20, exponent=0)
    # Functions: 16 bits by the formula, by tables, exponents that differ without a table, floats.
    for op in ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Elu", "Neg"):
        y(op, [x(i16, 300, exponent=-12)], i16, 300, exponent=-13, quant_type="S16")
    for op in ("Relu", "HardSwish", "Exp"):
        y(op, [x(i8, 256, exponent=-6)], i8, 256, exponent=-5)
    for op in ("Sigmoid", "Relu", "Tanh"):
        y(op, [x(f32, 2, 9)], f32, 2, 9)
    y("LUT", [x(i8, 99)], i8, 99, lut=c(random_integers(rng, i8, 256), -3))
    for op, step in (("LUT", 256), ("Gelu", 512), ("LUT", 1)):
        y(op, [x(i16, 500)], i16, 500, lut=c(random_integers(rng, i16, 65536 // step + 1), -3), quant_type="S16")
    y("Clip", [x(i16, 99, exponent=-12), c(np.array([-4096], i16), -12), c(np.array([8192], i16), -12)], i16, 99, exponent=-13)
    y("PRelu", [x(i16, 1, 3, 4, 6, exponent=-12), c(random_integers(rng, i16, 6), -15)], i16, 1, 3, 4, 6, exponent=-11)
    y("PRelu", [x(i8, 1, 3, 4, 6), c(random_integers(rng, i8, (1, 1, 6)), -7)], i8, 1, 3, 4, 6, exponent=-4)
    for dtype, exponent in ((i8, -5), (i16, -12)):
        y("Softmax", [x(dtype, 3, 7, exponent=exponent)], f32, 3, 7, axis=1)
        y("Softmax", [x(dtype, 3, 7, exponent=exponent)], dtype, 3, 7, exponent=-7, axis=0)
        y("ReduceMean", [x(dtype, 2, 5, 3, exponent=exponent)], dtype, 2, 3, exponent=exponent - 1, axes=[1], keepdims=0)
        y("ReduceMax", [x(dtype, 2, 5, 3, exponent=exponent), c(np.array([0, -1]))], dtype, 1, 5, 1, exponent=exponent)
    # Recurrent layers: both ways, without a gate's exponent, without all states.
    for op, gates, widths in (("GRU", 3, 2), ("LSTM", 4, 2), ("GRU", 3, 1)):
        for dtype, exponent in ((i8, -5), (i16, -12)):
            weights = [c(random_integers(rng, dtype, (widths, gates * 5, size)), 2 * exponent + 3) for size in (6, 5)]
            bias = c(random_integers(rng, i16, (widths, gates * 10)) // 64, -9)
            first = len(m.outputs)
            names = [m.value(f"y{first}", dtype, (widths, 1, 5), exponent - 2)]
            names.insert(0, m.value(f"y{first + 1}", dtype, (4, 2, 1, 5), exponent - 2) if widths == 2 else "")
            names += [m.value(f"y{first + 2}", i16, (2, 1, 5), -9)] if op == "LSTM" else []
            gate = {"gate_exponent": -9} if widths == 2 else {}
            direction = "bidirectional" if widths == 2 else "forward"
            m.node(op, [x(dtype, 4, 1, 6, exponent=exponent), *weights, bias], names, hidden_size=5, direction=direction,
                   linear_before_reset=1, **gate)
            m.outputs += [name for name in names if name]
    # Quantizers between widths and from floats.
    for source, given, target_type, wanted in ((i8, -5, i16, -9), (i16, -9, i8, -2), (i16, -9, i16, -7), (i8, -3, i8, -6)):
        y("RequantizeLinear", [x(source, 40, exponent=given)], target_type, 40, exponent=wanted)
    y("QuantizeLinear", [x(f32, 40)], i8, 40, exponent=-6)
    y("QuantizeLinear", [x(i16, 40, exponent=-8)], i8, 40, exponent=-3)
    y("DequantizeLinear", [x(i16, 40, exponent=-8)], f32, 40)
    # Moves by attributes, as older opsets have them.
    y("Squeeze", [x(i16, 1, 2, 1, 4)], i16, 2, 4, exponent=-5)
    y("Pad", [x(i8, 5, 6), c(np.array([1, 2])), c(np.array([7], i8), -5), c(np.array([1]))], i8, 5, 9, exponent=-5)
    y("Pad", [x(i16, 5, 6), c(np.array([0, 2, 1, 0]))], i16, 6, 8, exponent=-5, mode="edge")
    y("Gather", [x(i8, 3, 4), c(np.array([1]))], i8, 4, exponent=-5, axis=0)
    y("Flatten", [x(i8, 1, 2, 3, 4, 5)], i8, 24, 5, exponent=-5, axis=4)
    return m


def hand_made(tally, folder):
    """Forms of other writers in plain and in old containers: equal to the reference."""
    for number, (target, magic) in enumerate((("esp32s3", b"EDL1"), ("esp32p4", b"EDL2"), ("esp32c3", b"EDL2"))):
        label, path = f"forms of {target} {magic.decode()}", folder / "forms.espdl"
        model = forms(target, magic, number)
        expected = Reference(model, target == "esp32p4", target != "esp32c3").run(dict(model.tests))
        model.tests.update(expected)
        path.write_bytes(model.bytes(magic))
        outcome = run([ONNXQ, "esp", "evaluate", path, "--test-values", "--json"], timeout=300)
        if outcome.status not in (0, 1) or not outcome.stdout:
            tally.result(label, f"{outcome.ended()}: {outcome.stderr.strip()[-600:]}")
            continue
        told = json.loads(outcome.stdout)
        ops = {name: node.op for node in model.nodes for name in node.outputs}
        for output in told["outputs"]:
            loose = ops[output["name"]] in IN_FLOAT
            real = output["type"] == "float32"
            allowed = 2e-5 if real else 1 if loose else 0
            many = not real and output["different"] > max(1, 0.02 * output["count"])
            problem = f"{output}" if output["max_difference"] > allowed or many else None
            tally.result(f"{label} {ops[output['name']]} {output['name']}", problem)
