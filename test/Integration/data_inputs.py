#!/usr/bin/env -S /usr/bin/python3
"""Samples of every kind, right and wrong: what fits is taken, what doesn't is said, nothing is ignored.

Names of arrays, element types, layouts, options that mean nothing, one grammar of flags for all verbs, images by
patterns and lists, padding, tables that fit, failures that name their sample, and what quantize ends with. Prints a
line per failure, then the totals.
"""

import ctypes
import ctypes.util
import gzip
import json
import pathlib
import re
import shlex
import struct
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import harness
from support.calibration_inputs import png, save

rng = np.random.default_rng(20)


class Suite:
    def __init__(self, folder, tally):
        self.folder, self.tally, self.number = folder, tally, 0

    def path(self, suffix):
        self.number += 1
        return self.folder / f"{self.number}{suffix}"

    def expect(self, name, condition, problem):
        self.tally.expect(name, condition, str(problem)[:400])

    def run(self, *command):
        return harness.run([harness.ONNXQ, *command])

    def refused(self, name, command, words, status=1, out=None):
        """One error with all the words, the status, and no output file."""
        outcome = self.run(*command, *(("-o", out) if out else ()))
        errors = [line for line in outcome.stderr.splitlines() if line.startswith("error:")]
        fits = outcome.status == status and len(errors) == 1 and all(word in outcome.stderr for word in words)
        self.expect(name, fits and not (out and out.exists()), f"expects {words}, but got {outcome.ended()}: {outcome.stderr.strip()}")

    def table(self, name, model, *options):
        """The tensors of a table that must be written, and what was said on the way."""
        out = self.path(".json")
        outcome = self.run("calibrate", model, *options, "-o", out)
        if outcome.status != 0:
            self.expect(name, False, f"{outcome.ended()}: {outcome.stderr.strip()}")
            return {}, outcome
        return json.loads(out.read_text())["tensors"], outcome


def masked_model(path, element=TensorProto.INT64):
    """Two inputs of one shape, as encoders of text have them."""
    nodes = [helper.make_node("Gather", ["table", "ids"], ["rows"], "embed"), helper.make_node("Cast", ["mask"], ["float"], "cast", to=TensorProto.FLOAT),
             helper.make_node("Unsqueeze", ["float", "last"], ["wide"], "wide"), helper.make_node("Mul", ["rows", "wide"], ["kept"], "keep"),
             helper.make_node("MatMul", ["kept", "w"], ["y"], "fc")]
    weights = [numpy_helper.from_array(rng.standard_normal((50, 8)).astype(np.float32), "table"),
               numpy_helper.from_array(rng.standard_normal((8, 6)).astype(np.float32), "w"),
               numpy_helper.from_array(np.array([2], np.int64), "last")]
    graph = helper.make_graph(nodes, "masked", [helper.make_tensor_value_info(name, element, ["N", "L"]) for name in ("ids", "mask")],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    return path


def conv_model(path, shape=("N", 3, 16, 16), extra=()):
    """Convolutions with a normalization that preparing folds away, and a product at the end."""
    weights = {"w": rng.standard_normal((8, shape[1], 3, 3)) * 0.3, "scale": rng.random(8) + 0.5, "b": rng.random(8), "mean": rng.random(8),
               "var": rng.random(8) + 0.5, "w2": rng.standard_normal((4, 8, 3, 3)) * 0.3}
    nodes = [*extra, helper.make_node("Conv", ["image" if extra else "x", "w"], ["c"], "conv", pads=[1] * 4),
             helper.make_node("BatchNormalization", ["c", "scale", "b", "mean", "var"], ["n"], "norm"),
             helper.make_node("Relu", ["n"], ["r"], "relu"), helper.make_node("Conv", ["r", "w2"], ["y"], "conv2", pads=[1] * 4)]
    weights = {name: value.astype(np.float32) for name, value in weights.items()}
    weights.update({"bytes": np.float32(255)} if extra else {})
    return save(path, nodes, {"x": list(shape)}, {"y": [shape[0], 4, *shape[2:]]}, weights)


def names(suite):
    model = masked_model(suite.path(".onnx"))
    ids, mask = rng.integers(0, 50, (4, 5)), rng.integers(0, 2, (4, 5))
    wrong, part, right, turned = (suite.path(".npz") for _ in range(4))
    np.savez(wrong, attention_mask=mask, input_ids=ids)
    np.savez(part, ids=ids)
    np.savez(right, ids=ids, mask=mask)
    np.savez_compressed(turned, mask=mask, ids=ids)
    quant = suite.path(".onnx")
    made = suite.run("quantize", model, "--data", right, "-o", quant, "--quiet")
    suite.expect("npz by name", made.status == 0, made.stderr)
    lists = ("attention_mask", "input_ids", "'ids' and 'mask'")
    for verb, command in {"calibrate": [model], "quantize": [model], "evaluate": [quant, "--reference", model], "debug": [model, quant],
                          "sensitivity": [model]}.items():
        out = {"calibrate": suite.path(".json"), "quantize": suite.path(".onnx")}.get(verb)
        suite.refused(f"{verb}: names that the model doesn't have", [verb, *command, "--data", wrong], (wrong.name, *lists), out=out)
        suite.refused(f"{verb}: a name is missing", [verb, *command, "--data", part], (part.name, "'mask'", "'ids'"), out=out)
    suite.refused("run: names that the model doesn't have", ["run", model, "--input", wrong], ("attention_mask", "'ids' and 'mask'"))
    suite.refused("run: an array that isn't there", ["run", model, "--input", f"foo={right}"], ("has no array 'foo'", "'ids' and 'mask'"))
    suite.refused("an input that isn't there", ["calibrate", model, "--data", f"tokens={right}"], ("'tokens'", "'ids' and 'mask'"), out=suite.path(".json"))
    tables = [suite.table(name, model, *data, "--quiet")[0] for name, data in (
        ("in order", ("--data", right)), ("turned", ("--data", turned)), ("by INPUT=PATH", ("--data", f"mask={right}", "--data", f"ids={turned}")))]
    suite.expect("the order of names doesn't count", tables[0] and tables[0] == tables[1] == tables[2], "the tables differ")


def types(suite):
    model = conv_model(suite.path(".onnx"))
    values = rng.integers(0, 200, (3, 3, 16, 16))
    reference = None
    for kind in ("float32", "float64", "float16", "uint8", "int32", "int64"):
        data = suite.path(".npy")
        np.save(data, values.astype(kind))
        tensors, outcome = suite.table(f"samples of {kind}", model, "--data", data)
        reference = reference or tensors
        said = [line for line in outcome.stderr.splitlines() if "is converted" in line]
        suite.expect(f"samples of {kind} are converted", tensors == reference, "another table")
        suite.expect(f"samples of {kind}: one word", len(said) == (kind != "float32") and all(kind in line for line in said), outcome.stderr)
    quiet = suite.table("quietly", model, "--data", data, "--quiet")[1]
    suite.expect("no word if quiet", not quiet.stderr, quiet.stderr)
    data = suite.path(".npy")
    np.save(data, values[:1].astype(np.float64))
    outcome = suite.run("run", model, "--input", f"x={data}", "--json")
    suite.expect("run converts too", outcome.status == 0 and "float64 is converted to float32" in outcome.stderr, outcome.stderr)
    text = masked_model(suite.path(".onnx"))
    for kind, words in (("int32", None), ("bool", None), ("float32", ("int64", "float32", "astype"))):
        data = suite.path(".npz")
        np.savez(data, ids=rng.integers(0, 50, (2, 5)), mask=np.ones((2, 5), kind))
        if words:
            suite.refused(f"{kind} for int64", ["calibrate", text, "--data", data], words, out=suite.path(".json"))
        else:
            suite.table(f"{kind} for int64", text, "--data", data)
    chain = [helper.make_node("Neg" if i else "Abs", [f"t{i}" if i else "x"], [f"t{i + 1}"], f"n{i}") for i in range(12)]
    deep = save(suite.path(".onnx"), chain, {"x": ["N", 3]}, {"t12": ["N", 3]}, {})
    data = suite.path(".npy")
    np.save(data, np.array([[1, 2, 3], [np.nan, 1, 2]], np.float32))
    said = re.findall(r"warning: .*", suite.table("NaN in a sample", deep, "--data", data, "--all", "--skip-preprocess")[1].stderr)
    suite.expect("NaN is told where it begins", len(said) == 6 and "tensor 'x': left out of its range: 1 NaN of 6 values, first in" in said[0]
                 and "tensor 't4'" in said[4] and "8 more tensors" in said[5], said)
    small = masked_model(suite.path(".onnx"), TensorProto.INT32)
    data = suite.path(".npz")
    np.savez(data, ids=np.full((2, 5), 1 << 40), mask=np.ones((2, 5), np.int64))
    suite.refused("int64 that int32 can't hold", ["calibrate", small, "--data", data], ("int32", "1099511627776"), out=suite.path(".json"))
    np.save(suite.folder / "nhwc.npy", rng.random((2, 16, 16, 3), dtype=np.float32))
    suite.refused("NHWC", ["calibrate", model, "--data", suite.folder / "nhwc.npy"], ("looks like NHWC", "transpose(0, 3, 1, 2)"), out=suite.path(".json"))


def options(suite):
    model, data = conv_model(suite.path(".onnx")), suite.path(".npy")
    np.save(data, rng.random((5, 3, 16, 16), dtype=np.float32))
    given = {"--scale": "1/255", "--mean": "3", "--size": "8x8", "--crop": "8x8", "--filter": "box", "--layout": "nchw", "--channels": "bgr",
             "--multiple-of": "8", "--preprocess": "preprocess_method1"}
    for option, value in given.items():
        suite.refused(f"{option} with npy", ["calibrate", model, "--data", data, option, value], (option[2:], "images", data.name), out=suite.path(".json"))
    suite.refused("--letterbox with npy", ["quantize", model, "--data", data, "--letterbox"], ("letterbox", "images"), out=suite.path(".onnx"))
    out = suite.path(".onnx")
    suite.refused("--data with --dynamic", ["quantize", model, "--data", data, "--dynamic"], ("--data", "--dynamic"), 2, out)
    suite.refused("--table with --dynamic", ["quantize", model, "--table", "t.json", "--dynamic", "--mode", "integer"], ("--table", "--dynamic"), 2, out)
    for verb in ("calibrate", "quantize", "sensitivity"):
        target = None if verb == "sensitivity" else suite.path(".json" if verb == "calibrate" else ".onnx")
        suite.refused(f"{verb} --limit 0", [verb, model, "--data", data, "--limit", "0"], ("limit", "from 1 on"), 2, target)
        suite.refused(f"{verb} --batch 0", [verb, model, "--data", data, "--batch", "0"], ("batch", "from 1 on"), 2, target)
    outcome = suite.table("--limit beyond the data", model, "--data", data, "--limit", "1000")[1]
    suite.expect("--limit beyond the data is said", "limit is 1000, but there are only 5 samples" in outcome.stderr, outcome.stderr)
    outcome = suite.table("--limit within the data", model, "--data", data, "--limit", "5")[1]
    suite.expect("--limit within the data is not", not outcome.stderr, outcome.stderr)
    suite.refused("--start behind the data", ["calibrate", model, "--data", data, "--start", "5"], ("start", "5"), out=suite.path(".json"))
    suite.refused("--dim of no name", ["calibrate", model, "--data", data, "--dim", "batch=1"], ("'batch'", "it has 'N'"), out=suite.path(".json"))
    suite.refused("--input-shape of no name", ["info", model, "--input-shape", "image=1x3x16x16"], ("'image'", "it has 'x'"))


def grammar(suite):
    model, data = conv_model(suite.path(".onnx")), suite.path(".npy")
    np.save(data, rng.random((3, 3, 16, 16), dtype=np.float32))

    def quantized(*flags):
        out = suite.path(".onnx")
        outcome = suite.run("quantize", model, "--data", data, "--compare", "0", *flags, "-o", out)
        return out.read_bytes() if outcome.status == 0 else outcome.stderr

    plain, off = quantized(), quantized("--per-channel=false")
    suite.expect("a flag changes the model", isinstance(off, bytes) and off != plain, off)
    for flags in (("--per-channel", "false"), ("--per_channel=False",), ("--per_channel", "0"), ("--no-per-channel",), ("--no_per_channel",),
                  ("--no-per-channel=true",)):
        suite.expect(" ".join(flags), quantized(*flags) == off, "another model")
    for flags in (("--per-channel",), ("--per-channel", "true"), ("--quiet=false",), ("--symmetric-weights", "auto"), ("--skip_preprocess=false",)):
        suite.expect(" ".join(flags), quantized(*flags) == plain, "another model")
    suite.expect("--symmetric-weights", quantized("--symmetric-weights") == quantized("--symmetric_weights=true"), "another model")
    for command, words in ((["--per-channel=maybe"], ("--per-channel", "true or false", "maybe")), (["--mode", "int8"], ("mode", "qdq, qlinear")),
                           (["--method", "entrpy"], ("entropy", "entrpy")), (["--placement", "all"], ("placement", "fused")),
                           (["--layout", "chwn"], ("layout", "nchw or nhwc")), (["--filter", "cubic"], ("filter",)), (["--channels", "yuv"], ("channels", "rgb")),
                           (["--activation-type", "u7"], ("activation-type", "u8")), (["--percentile", "half"], ("percentile", "half")),
                           (["--limit", "--stride", "2"], ("--limit", "needs a value", "--stride")), (["--per-chanel"], ("--per-channel",))):
        suite.refused(f"quantize {' '.join(command)}", ["quantize", model, "--data", data, *command], words, 2, suite.path(".onnx"))
    pixels = rng.integers(0, 256, (8, 16, 3)).astype(np.uint8)
    image = suite.path(".png")
    image.write_bytes(png(pixels))
    tables = [suite.table("images", model, "--data", image, "--size", size, "--scale", scale, "--quiet")[0] for size, scale in (
        ("16x16", "0.00392156862745098"), ("16,16", "1/255"), ("16X16", "1/255:2/510:1/255"))]
    suite.expect("fractions and sizes", tables[0] and tables[0] == tables[1] == tables[2], "the tables differ")
    suite.refused("a fraction of nothing", ["calibrate", model, "--data", image, "--scale", "1/0"], ("scale", "1/0"), 2, suite.path(".json"))


def effects(suite):
    """Options of calibrate change the table, and what means nothing beside the others is refused, in every verb."""
    model, folder = conv_model(suite.path(".onnx"), ("N", 3, "H", "W")), suite.path("")
    folder.mkdir()
    for index in range(6):
        (folder / f"{index}.png").write_bytes(png(rng.integers(0, 256, (10, 16, 3)).astype(np.uint8)))

    def calibrated(text):
        out = suite.path(".json")
        outcome = suite.run("calibrate", model, "--data", folder, *text.split(), "-o", out, "--quiet")
        return out.read_bytes() if outcome.status == 0 else outcome.stderr

    bases = {text: calibrated(text) for text in ("", "--size 8x8", "--letterbox --size 16", "--ranges", "--histogram", "--method percentile --ranges",
                                                 "--method entropy --ranges", "--method moving-average --ranges")}
    for base, more in (
            ("", "--limit 3"), ("", "--start 1"), ("", "--stride 2"), ("", "--shard 1/2"), ("", "--size 8x8"), ("", "--crop 8x8"), ("", "--channels bgr"),
            ("", "--mean 3"), ("", "--scale 1/255"), ("", "--letterbox --size 16"), ("", "--multiple-of 32"), ("", "--method entropy"), ("", "--histogram"),
            ("", "--op-types Relu"), ("", "--nodes conv2"), ("", "--ranges"), ("", "--skip-preprocess"), ("", "--dim N=1 --dim H=10"),
            ("--size 8x8", "--filter nearest"), ("--letterbox --size 16", "--pad-color 3"), ("--letterbox --size 16", "--pad-at corner"),
            ("--ranges", "--symmetric"), ("--method percentile --ranges", "--percentile 90"), ("--histogram", "--bins 64"),
            ("--method entropy --ranges", "--quantized-bins 32"), ("--method moving-average --ranges", "--constant 0.5")):
        made = calibrated(f"{base} {more}")
        suite.expect(f"calibrate {base} {more}", isinstance(made, bytes) and (made != bases[base] or "--dim" in more), made if isinstance(made, str) else "the same table")
    data, library, quant = suite.path(".npy"), suite.path(".so"), suite.path(".onnx")
    np.save(data, rng.random((2, 3, 8, 8), dtype=np.float32))
    suite.run("compile", model, "-o", library, "--quiet")
    suite.run("quantize", model, "--data", data, "-o", quant, "--quiet")
    beside = {f"--{name} {value}".strip(): name for name, value in (
        ("dim", "N=1"), ("threads", "2"), ("cache", suite.folder), ("check-bounds", ""), ("max-iterations", "3"),
        ("trust-bytecode", ""), ("max-memory", "1G"), ("no-specialize", ""), ("target", "native"), ("cpu", "haswell"), ("features", "+fma"),
        ("no-winograd", ""), ("verbose", ""), ("profile", ""))}
    shaped = suite.run("run", library, "--random-seed", "1", "--input-shape", "x=2x3x9x8", "--json")
    suite.expect("a library's random input has a shape", shaped.status == 0 and json.loads(shaped.stdout)["outputs"][0]["shape"] == [2, 4, 9, 8],
                 shaped.stderr or shaped.stdout)
    outcome = suite.run("bench", library, "--input-shape", "x=2x3x9x8", "--seconds", "0", "--json")
    suite.expect("bench of a library with a shape", outcome.status == 0 and not outcome.stderr, outcome.stderr)
    outcome = suite.run("bench", library, "--seconds", "0", "--json")
    suite.expect("bench of a library without", "open sizes of input 'x' are 1 here; give them by --input-shape x=SHAPE" in outcome.stderr, outcome.stderr)
    suite.refused("a shape that a library can't have", ["run", library, "--random-seed", "1", "--input-shape", "x=2x4x9x8"], ("[?, 3, ?, ?]", "[2, 4, 9, 8]"))
    own = {"run": ("max-memory", "no-specialize"), "bench": ("target", "cpu", "features", "no-winograd", "verbose", "profile")}
    for verb, only in own.items():
        for text, name in beside.items():
            if name in only or name not in own["run"] + own["bench"]:
                suite.refused(f"{verb} a library {text}", [verb, library, *text.split()], (f"'--{name}'", "is for models"), 2)
    for name in ("dim", "max-memory", "max-iterations"):
        text = next(text for text, of in beside.items() if of == name)
        suite.refused(f"evaluate a library {text}", ["evaluate", library, "--reference", library, "--data", data, *text.split()], (f"'--{name}'", "is for models"), 2)
    calibrate, evaluate, debug = ["calibrate", model, "--data", data], ["evaluate", quant, "--reference", model, "--data", data], ["debug", model, quant, "--data", data]
    for command, words in (
            ([*calibrate, "--percentile", "90"], ("percentile", "--method percentile")), ([*calibrate, "--quantized-bins", "32"], ("quantized-bins", "entropy")),
            ([*calibrate, "--constant", "0.5"], ("constant", "moving-average")), ([*calibrate, "--bins", "64"], ("bins", "histogram")),
            (["sensitivity", model, "--data", data, "--percentile", "90"], ("percentile", "--method percentile")),
            ([*evaluate, "--metric", "sqnr", "--labels", data], ("'--labels'", "top1")), ([*evaluate, "--score", "0.5"], ("'--score'", "coco")),
            (["evaluate", "--detections", data, "--labels", data, "--limit", "2"], ("'--limit'", "--detections")),
            (["evaluate", "--detections", data, "--labels", data, "--score", "0.5"], ("'--score'", "--detections")),
            ([*debug, "--no-profile"], ("'--no-profile'", "--report")), ([*debug, "--seconds", "0", "--calibration", data], ("'--calibration'", "--seconds 0"))):
        suite.refused(" ".join(map(str, (command[0], *command[-2:]))), command, words, 2, suite.path(".json") if command[0] == "calibrate" else None)
    suite.refused("--ranges of .cache", [*calibrate, "--ranges"], ("'--ranges'", ".json"), 2, suite.path(".cache"))


def bmp(pixels, bits, top_down=False, palette=None):
    """A BMP file; with a palette, pixels are its indices."""
    height, width = pixels.shape[:2]
    rows = pixels if top_down else pixels[::-1]
    if bits == 24:
        packed = [row[:, ::-1].tobytes() for row in rows]
    elif bits == 32:
        packed = [np.concatenate([row[:, ::-1], np.full((width, 1), 77, np.uint8)], 1).tobytes() for row in rows]
    else:
        packed = [np.packbits(np.unpackbits(row[:, None], axis=1)[:, 8 - bits:].reshape(-1)).tobytes() for row in rows]
    body = b"".join(row + b"\0" * (-len(row) % 4) for row in packed)
    colors = b"".join(bytes([*color[::-1], 0]) for color in (palette if palette is not None else []))
    info = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, bits, 0, len(body), 0, 0, len(colors) // 4, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(colors) + len(body), 0, 0, 54 + len(colors)) + info + colors + body


def webp(pixels):
    """A lossless WebP file; None if the library isn't there."""
    name = ctypes.util.find_library("webp")
    if not name:
        return None
    library, out = ctypes.CDLL(name), ctypes.POINTER(ctypes.c_uint8)()
    library.WebPEncodeLosslessRGB.restype = ctypes.c_size_t
    raw = np.ascontiguousarray(pixels)
    size = library.WebPEncodeLosslessRGB(raw.ctypes.data_as(ctypes.c_void_p), raw.shape[1], raw.shape[0], raw.shape[1] * 3, ctypes.byref(out))
    return bytes(out[:size])


def images(suite):
    model = conv_model(suite.path(".onnx"))
    palette = rng.integers(0, 256, (16, 3)).astype(np.uint8)
    indices = rng.integers(0, 16, (16, 16)).astype(np.uint8)
    pixels = palette[indices]
    files = {"png": png(pixels), "24.bmp": bmp(pixels, 24), "top.bmp": bmp(pixels, 24, top_down=True), "32.bmp": bmp(pixels, 32),
             "8.bmp": bmp(indices, 8, palette=palette), "4.bmp": bmp(indices, 4, palette=palette), "webp": webp(pixels)}
    tables = {}
    for name, content in files.items():
        folder = suite.path("")
        folder.mkdir()
        if content:
            (folder / f"a.{name}").write_bytes(content)
            tables[name] = suite.table(name, model, "--data", folder, "--quiet")[0]
    for name, tensors in tables.items():
        suite.expect(f"{name} as png", tensors == tables["png"], "another table")
    # Whatever is cut off or wrong in a header is an error, never a crash.
    for name in ("24.bmp", "8.bmp", "webp"):
        for size in (3, 20, 40, 54, 60, 100, 200):
            broken = suite.path(f".{name}")
            broken.write_bytes((files[name] or b"")[:size])
            suite.refused(f"{name} of {size} bytes", ["calibrate", model, "--data", broken], (broken.name,), out=suite.path(".json"))
    for offset, value in ((10, 0xffffffff), (14, 0x7fffffff), (18, 0x7fffffff), (22, 0x80000000), (28, 5), (30, 1), (46, 3)):
        broken = suite.path(".bmp")
        content = bytearray(files["8.bmp"])
        content[offset:offset + 4] = struct.pack("<I", value)
        broken.write_bytes(content)
        suite.refused(f"BMP with {value} at {offset}", ["calibrate", model, "--data", broken], (broken.name,), out=suite.path(".json"))
    folder = suite.path("")
    (folder / "deep").mkdir(parents=True)
    arrays = [rng.integers(0, 256, (16, 16, 3)).astype(np.uint8) for _ in range(3)]
    others = [png(array) for array in arrays]
    for name, content in zip(("a.png", "b.png", "deep/c.png"), others):
        (folder / name).write_bytes(content)
    (folder / "list.txt").write_text(f"# two of them\nb.png\n\n{folder}/deep/c.png\r\n")
    (folder / "gone.txt").write_text("b.png\nd.png\n")
    both = suite.path("")
    both.mkdir()
    for name, content in zip("bc", others[1:]):
        (both / f"{name}.png").write_bytes(content)
    expected = suite.table("two images", model, "--data", both, "--quiet")[0]
    for name, data in (("a list", folder / "list.txt"), ("a pattern", f"{both}/[a-c].png"), ("braces", f"{both}/{{b,c}}.png")):
        suite.expect(f"images by {name}", suite.table(name, model, "--data", data, "--quiet")[0] == expected, "another table")
    # MNIST's form with a fourth dimension.
    for colors, words in ((3, None), (4, ("expects 3 colors", "got 4"))):
        raw = np.stack(arrays[1:])[..., [0, 1, 2, 0][:colors]]
        stored = suite.path(".idx.gz")
        stored.write_bytes(gzip.compress(struct.pack(">HBB4I", 0, 8, 4, *raw.shape) + raw.tobytes()))
        if words:
            suite.refused("idx with four colors", ["calibrate", model, "--data", stored], words, out=suite.path(".json"))
        else:
            suite.expect("idx with colors", suite.table("idx", model, "--data", stored, "--quiet")[0] == expected, "another table")
    suite.refused("a list with a file that isn't there", ["calibrate", model, "--data", folder / "gone.txt"], ("line 2", "d.png"), out=suite.path(".json"))
    suite.refused("a pattern that the shell replaced", ["calibrate", model, "--data", both / "b.png", both / "c.png"],
                  ("unexpected argument", "c.png", "--data 'DIR/*.png'"), 2, suite.path(".json"))
    suite.refused("a pattern of nothing", ["calibrate", model, "--data", f"{folder}/*.jpg"], ("*.jpg", "no file"), out=suite.path(".json"))
    outcome = suite.table("a mixed folder", model, "--data", folder)[1]
    suite.expect("what is left out of a folder is said", "left out 2 .txt" in outcome.stderr, outcome.stderr)
    strange = suite.path("")
    strange.mkdir()
    for name in ("a.gif", "b.gif", "c.tiff"):
        (strange / name).write_bytes(b"GIF89a")
    suite.refused("a folder of other images", ["calibrate", model, "--data", strange], ("2 .gif", "1 .tiff", "JPEG, PNG, WebP, BMP"), out=suite.path(".json"))
    suite.refused("--layout nhwc of an NCHW model", ["calibrate", model, "--data", folder, "--layout", "nhwc"],
                  ("layout nhwc contradicts", "[?, 3, 16, 16]", "second"), out=suite.path(".json"))
    suite.refused("--layout nhwc of one with open sizes", ["calibrate", conv_model(suite.path(".onnx"), ("N", 3, "H", "W")), "--data", folder, "--layout", "nhwc"],
                  ("layout nhwc contradicts", "[?, 3, ?, ?]", "say nchw"), out=suite.path(".json"))


def padding(suite):
    """Letterboxes and multiples: extremes and sums are those of the padded picture."""
    free = conv_model(suite.path(".onnx"), ("N", 3, "H", "W"))
    fixed = conv_model(suite.path(".onnx"), (1, 3, 20, 32))
    pixels = rng.integers(0, 100, (10, 16, 3)).astype(np.uint8)
    image = suite.path(".png")
    image.write_bytes(png(pixels))

    def means(array):
        return np.asarray(array, np.float64).reshape(-1, 3).mean(0)

    def padded(height, width, top, left, color):
        result = np.empty((height, width, 3))
        result[:] = color
        result[top:top + pixels.shape[0], left:left + pixels.shape[1]] = pixels
        return result

    cases = {
        "multiple of 32": (free, ("--multiple-of", "32"), padded(32, 32, 0, 0, 114)),
        "multiple of 8, black": (free, ("--multiple-of", "8", "--pad-color", "0"), padded(16, 16, 0, 0, 0)),
        "a letterbox of the same size": (free, ("--letterbox", "--size", "16"), padded(16, 16, 3, 0, 114)),
        "a letterbox in the corner": (free, ("--letterbox", "--size", "16x24", "--pad-at", "corner", "--filter", "nearest"), None),
        "colors": (free, ("--letterbox", "--size", "16,16", "--pad-color", "1:2:3"), padded(16, 16, 3, 0, [1, 2, 3])),
        "colors the other way around": (free, ("--letterbox", "--size", "16,16", "--pad-color", "3:2:1", "--channels", "bgr"),
                                        padded(16, 16, 3, 0, [1, 2, 3])[..., ::-1]),
        "the input's own size": (fixed, ("--letterbox", "--filter", "nearest"), np.repeat(np.repeat(pixels, 2, 0), 2, 1)),
    }
    for name, (model, options, expected) in cases.items():
        tensors, outcome = suite.table(name, model, "--data", image, *options, "--quiet")
        if not tensors:
            continue
        if expected is None:
            suite.expect(name, tensors["x"]["count"] == 16 * 24 * 3, tensors["x"]["count"])
            continue
        entry = tensors["x"]
        found = np.array([int(text, 16) / 2**224 for text in entry["channel_sums"]]) / np.array(entry["channel_counts"])
        suite.expect(name, np.allclose(found, means(expected)) and entry["count"] == expected.size, f"{found}, not {means(expected)}")
    for name, options, words in (("no size", ("--letterbox",), ("letterbox", "size")), ("crop", ("--letterbox", "--size", "16", "--crop", "8x8"), ("crop",)),
                                 ("color alone", ("--pad-color", "3"), ("pad-color",)), ("place alone", ("--pad-at", "corner", "--multiple-of", "8"), ("pad-at",)),
                                 ("a color beyond", ("--letterbox", "--size", "16", "--pad-color", "300"), ("pad-color", "255")),
                                 ("multiples of zero", ("--multiple-of", "0"), ("multiple-of",))):
        suite.refused(f"padding: {name}", ["calibrate", free, "--data", image, *options], words, 1 if name == "no size" else 2, suite.path(".json"))


def tables(suite):
    model, data, table = conv_model(suite.path(".onnx")), suite.path(".npy"), suite.path(".json")
    np.save(data, rng.random((6, 3, 16, 16), dtype=np.float32))
    suite.run("calibrate", model, "--data", data, "-o", table, "--quiet")
    direct, loaded = suite.path(".onnx"), suite.path(".onnx")
    suite.run("quantize", model, "--data", data, "-o", direct, "--quiet")
    outcome = suite.run("quantize", model, "--table", table, "-o", loaded)
    suite.expect("calibrate, then quantize --table", outcome.status == 0 and loaded.read_bytes() == direct.read_bytes(), outcome.stderr or "another model")
    everything = suite.path(".json")
    suite.run("calibrate", model, "--data", data, "--all", "--skip-preprocess", "-o", everything, "--quiet")
    content = json.loads(everything.read_text())
    content["tensors"].update(json.loads(table.read_text())["tensors"])
    content["tensors"]["nowhere"] = content["tensors"]["x"]
    everything.write_text(json.dumps(content))
    outcome = suite.run("quantize", model, "--table", everything, "-o", suite.path(".onnx"), "--quiet")
    suite.expect("surplus tensors are no misfit", outcome.status == 0, outcome.stderr)
    for name in [name for name in content["tensors"] if name != "x"]:
        del content["tensors"][name]
    everything.write_text(json.dumps(content))
    suite.refused("a table without what is needed", ["quantize", model, "--table", everything], ("doesn't fit", "no range", "alike"), out=suite.path(".onnx"))
    base = suite.folder / "calibration"
    outcome = suite.run("calibrate", model, "--data", data, "-o", base)
    found = {path.suffix for path in suite.folder.glob("calibration.*")}
    suite.expect("three tables of one run", found == {".json", ".flatbuffers", ".cache"} and all(f"calibration{s}".encode() in outcome.stdout for s in found), found)
    suite.expect("the first is the same", base.with_suffix(".json").read_bytes() == table.read_bytes(), "it differs")
    for suffix in (".cache", ".flatbuffers"):
        one = suite.path(suffix)
        suite.run("calibrate", model, "--data", data, "-o", one, "--quiet")
        suite.expect(f"so is {suffix}", one.read_bytes() == base.with_suffix(suffix).read_bytes(), "it differs")
    merged = suite.folder / "merged"
    suite.run("merge", table, "-o", merged, "--quiet")
    suite.expect("merge too", merged.with_suffix(".cache").read_bytes() == base.with_suffix(".cache").read_bytes(), "it differs")


def failures(suite):
    """A model that takes even sizes only: halved, doubled and added to what it was."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4), helper.make_node("AveragePool", ["c"], ["half"], "half", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Resize", ["half", "", "twice"], ["again"], "again", mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"),
             helper.make_node("Add", ["c", "again"], ["y"], "join")]
    model = save(suite.path(".onnx"), nodes, {"x": ["N", 3, "H", "W"]}, {"y": ["N", 3, "H2", "W2"]},
                 {"w": (rng.standard_normal((3, 3, 3, 3)) * 0.3).astype(np.float32), "twice": np.array([1, 1, 2, 2], np.float32)})
    ragged, even, arrays = suite.path(""), suite.path(""), suite.path("")
    for folder in (ragged, even, arrays):
        folder.mkdir()
    for index, size in enumerate(((8, 8), (10, 8), (9, 6))):
        pixels = rng.integers(0, 256, (*size, 3)).astype(np.uint8)
        (ragged / f"{index}.png").write_bytes(png(pixels))
        np.save(arrays / f"{index}.npy", rng.random((1, 3, *size), dtype=np.float32))
    quant = suite.path(".onnx")
    made = suite.run("quantize", model, "--data", ragged, "--size", "8x8", "-o", quant, "--quiet")
    suite.expect("with --size", made.status == 0, made.stderr)
    made = suite.run("calibrate", model, "--data", ragged, "--multiple-of", "2", "-o", suite.path(".json"), "--quiet")
    suite.expect("with --multiple-of", made.status == 0, made.stderr)
    for verb, command in {"calibrate": [model], "quantize": [model], "debug": [model, quant], "sensitivity": [model]}.items():
        out = {"calibrate": suite.path(".json"), "quantize": suite.path(".onnx")}.get(verb)
        suite.refused(f"{verb} names the sample", [verb, *command, "--data", ragged], ("2.png", "[1, 3, 9, 6]", "'join'", "--size"), out=out)
        suite.refused(f"{verb} names the array", [verb, *command, "--data", arrays], ("2.npy", "[1, 3, 9, 6]", "'join'", "--input-shape"), out=out)
    suite.refused("evaluate without labels", ["evaluate", model, "--data", arrays / "0.npy"], ("--labels", "--reference"))
    alone = suite.run("sensitivity", model, "--data", ragged, "--size", "8x8")
    suite.expect("sensitivity of one layer", "there is no other layer" in alone.stdout.decode(), alone.stdout + alone.stderr.encode())
    # Where sizes differ, one that doesn't go is found before anything is compiled: shape inference says so, not a run.
    odd = suite.path("")
    odd.mkdir()
    for index, size in enumerate(((9, 6), (8, 8))):
        (odd / f"{index}.png").write_bytes(png(rng.integers(0, 256, (*size, 3)).astype(np.uint8)))
    for verb in ("calibrate", "quantize", "sensitivity"):
        out = {"calibrate": suite.path(".json"), "quantize": suite.path(".onnx")}.get(verb)
        suite.refused(f"{verb} looks at the first sample", [verb, model, "--data", odd],
                      ("'join'", "operands that broadcast", "0.png", "[1, 3, 9, 6]", "--size"), out=out)
    suite.refused("all of one size", ["calibrate", model, "--data", ragged, "--size", "7x7"], ("0.png", "[1, 3, 7, 7]", "'join'", "--size"), out=suite.path(".json"))


def summary(suite):
    model, folder = conv_model(suite.path(".onnx")), suite.path("")
    inside = conv_model(suite.path(".onnx"), extra=[helper.make_node("Div", ["x", "bytes"], ["image"], "normalize")])
    folder.mkdir()
    for index in range(6):
        (folder / f"{index}.png").write_bytes(png(rng.integers(0, 256, (16, 16, 3)).astype(np.uint8)))

    def lines(name, *command):
        out = suite.path(".onnx")
        outcome = suite.run("quantize", *command, "-o", out)
        text = outcome.stdout.decode()
        suite.expect(f"{name}: written", outcome.status == 0 and out.exists(), outcome.stderr)
        return text, out

    raw, out = lines("raw pixels", model, "--data", folder)
    for pattern in (r"^samples +6$", r"^input +x: 0 to 255, looks like raw pixels; did you mean --scale 1/255\?$", r"^mode +qdq static, placement fused$",
                    r"^int8 +100 % of the multiply-adds, 2 of 2 convolutions", r"^output +y: \d+\.\d dB .* 4 calibration samples$",
                    rf"^wrote +{re.escape(str(out))}, \d+\.\d KB \(before: \d+\.\d KB\), in \d+\.\d s$",
                    rf"^next +onnxq evaluate {re.escape(str(out))} --reference .* --data {re.escape(str(folder))}$", r"^ +onnxq compile "):
        suite.expect(f"a summary has {pattern}", re.search(pattern, raw, re.M), raw)
    suite.expect("reasons are for --verbose", "float" not in raw.replace("float model", ""), raw)
    suite.expect("--verbose tells more", re.search(r"^nodes +\d+ of", lines("verbose", model, "--data", folder, "--verbose")[0], re.M), "no nodes")
    scaled, _ = lines("scaled", model, "--data", folder, "--scale", "1/255")
    suite.expect("a scale is seen", re.search(r"^input +x: 0 to 1$", scaled, re.M) and "--scale 1/255" in scaled.split("next")[1], scaled)
    suite.expect("a model that scales by itself", "raw pixels" not in lines("inside", inside, "--data", folder)[0], "told to scale")
    data = suite.path(".npy")
    np.save(data, np.zeros((4, 3, 16, 16), np.float32))
    suite.expect("zeros are told", "x: 0 to 0, all zero" in lines("zeros", model, "--data", data)[0], "they aren't")
    words = suite.path(".npz")
    np.savez(words, ids=np.zeros((3, 5), np.int64), mask=np.ones((3, 5), np.int64))
    text, _ = lines("integers", masked_model(suite.path(".onnx")), "--data", words)
    suite.expect("zeros that are no ranges", re.search(r"^input +ids: 0 to 0$", text, re.M), text)
    np.save(data, rng.random((1, 3, 16, 16), dtype=np.float32))
    spaced = suite.folder / "two words's.npy"
    spaced.write_bytes(data.read_bytes())
    copied = suite.folder / "a model.onnx"
    copied.write_bytes(model.read_bytes())
    text, out = lines("spaces", copied, "--data", spaced)
    commands = [shlex.split(line) for line in re.findall(r"onnxq .*", text.split("next")[-1])]
    suite.expect("commands can be copied", len(commands) == 2 and commands[0] == ["onnxq", "evaluate", str(out), "--reference", str(copied), "--data", str(spaced)],
                 commands)
    one, _ = lines("one sample", model, "--data", data)
    suite.expect("one sample is told", re.search(r"^samples +1: ranges hold for this one only", one, re.M) and "on 1 calibration sample\n" in one, one)
    suite.expect("--compare 0", "output" not in lines("not compared", model, "--data", data, "--compare", "0")[0], "compared")
    dynamic, _ = lines("dynamic", model, "--dynamic")
    suite.expect("without data", "samples" not in dynamic and re.search(r"^next +onnxq compile", dynamic, re.M), dynamic)
    codes, _ = lines("weights only", masked_model(suite.path(".onnx")), "--weight-only", "4")
    suite.expect("what has codes", re.search(r"^quantized +the weights of 1 node, nothing else$", codes, re.M) and "int8" not in codes, codes)
    quiet = suite.run("quantize", model, "--data", data, "--quiet", "-o", suite.path(".onnx"))
    suite.expect("--quiet", not quiet.stdout and not quiet.stderr, quiet.stderr)


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(pathlib.Path(folder), tally)
        for part in (names, types, options, grammar, effects, images, padding, tables, failures, summary):
            part(suite)
    tally.finish()


if __name__ == "__main__":
    main()
