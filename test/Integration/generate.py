#!/usr/bin/env -S /usr/bin/python3
"""`onnxq generate`: text from a small decoder, against NumPy.

The decoder is of the form that exports of Llama have: RMS norms, rotary
embeddings, grouped heads, a KV cache that grows by Concat. NumPy computes it
anew over the whole text for every token, without a cache. The model must give
the same greedy text, with and without its cache, compiled in process and as a
library, with float weights and with weights of 8 bits.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.harness import ONNXQ, require_tools

VOCABULARY, WIDTH, HEADS, GROUPS, SIZE, LAYERS = 48, 32, 4, 2, 8, 2
rng = np.random.default_rng(5)
failures, passed = [], 0


def check(name, good, detail=""):
    global passed
    if good:
        passed += 1
    else:
        failures.append(name)
        print(f"FAIL {name} {detail}")


def onnxq(*arguments):
    return subprocess.run([ONNXQ, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def make_weights():
    weights = {"embedding": rng.normal(size=(VOCABULARY, WIDTH))}
    for layer in range(LAYERS):
        weights[f"q{layer}"] = rng.normal(size=(WIDTH, HEADS * SIZE)) / 4
        weights[f"k{layer}"] = rng.normal(size=(WIDTH, GROUPS * SIZE)) / 4
        weights[f"v{layer}"] = rng.normal(size=(WIDTH, GROUPS * SIZE)) / 4
        weights[f"o{layer}"] = rng.normal(size=(HEADS * SIZE, WIDTH)) / 4
        weights[f"up{layer}"] = rng.normal(size=(WIDTH, 2 * WIDTH)) / 4
        weights[f"down{layer}"] = rng.normal(size=(2 * WIDTH, WIDTH)) / 4
        weights[f"norm{layer}"] = rng.uniform(0.5, 1.5, size=WIDTH)
    angles = np.outer(np.arange(128), 10000.0 ** (-np.arange(0, SIZE, 2) / SIZE))
    weights["cos"] = np.cos(np.concatenate([angles, angles], -1))
    weights["sin"] = np.sin(np.concatenate([angles, angles], -1))
    weights["head"] = rng.normal(size=(WIDTH, VOCABULARY))
    return {name: value.astype(np.float32) for name, value in weights.items()}


def reference_scores(weights, tokens):
    """The scores behind the last of the tokens, in 64 bits."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    count = len(tokens)
    x = w["embedding"][tokens]
    for layer in range(LAYERS):
        norm = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[f"norm{layer}"]

        def heads(name, number):
            return (norm @ w[f"{name}{layer}"]).reshape(count, number, SIZE).transpose(1, 0, 2)

        def rotate(t):
            half = np.concatenate([-t[..., SIZE // 2 :], t[..., : SIZE // 2]], -1)
            return t * w["cos"][:count] + half * w["sin"][:count]

        q, k, v = rotate(heads("q", HEADS)), rotate(heads("k", GROUPS)), heads("v", GROUPS)
        k, v = (np.repeat(t, HEADS // GROUPS, 0) for t in (k, v))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(SIZE)
        scores += np.triu(np.full((count, count), -np.inf), 1)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ v).transpose(1, 0, 2).reshape(count, HEADS * SIZE)
        x = x + mixed @ w[f"o{layer}"]
        hidden = x @ w[f"up{layer}"]
        x = x + (hidden / (1 + np.exp(-hidden))) @ w[f"down{layer}"]
    return (x @ w["head"])[-1]


def greedy(weights, prompt, count):
    """Tokens, and how clear the closest choice was."""
    tokens, margin = list(prompt), np.inf
    for _ in range(count):
        scores = reference_scores(weights, np.array(tokens))
        best = np.sort(scores)[-2:]
        margin = min(margin, best[1] - best[0])
        tokens.append(int(np.argmax(scores)))
    return tokens[len(prompt) :], margin


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.count = [], {}, 0

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        output = attributes.pop("to", f"t{self.count}")
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=f"n{self.count}", **attributes))
        return output

    def constant(self, value, kind=np.float32):
        value = np.asarray(value, kind)
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name


def build_layer(g, x, layer, cache, rotary, mask):
    """One decoder layer; `cache` says whether there is a past."""
    shape = lambda *dims: g.constant(dims, np.int64)
    square = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1], keepdims=1)
    norm = g.op("Div", x, g.op("Sqrt", g.op("Add", square, g.constant(1e-5))))
    norm = g.op("Mul", norm, f"norm{layer}")

    def heads(name, number):
        t = g.op("Reshape", g.op("MatMul", norm, f"{name}{layer}"), shape(0, 0, number, SIZE))
        return g.op("Transpose", t, perm=[0, 2, 1, 3])

    def rotate(t):
        first = g.op("Slice", t, shape(0), shape(SIZE // 2), shape(3))
        second = g.op("Slice", t, shape(SIZE // 2), shape(SIZE), shape(3))
        half = g.op("Concat", g.op("Neg", second), first, axis=-1)
        return g.op("Add", g.op("Mul", t, rotary[0]), g.op("Mul", half, rotary[1]))

    q, k, v = rotate(heads("q", HEADS)), rotate(heads("k", GROUPS)), heads("v", GROUPS)
    if cache:
        k = g.op("Concat", f"past_key_values.{layer}.key", k, axis=2, to=f"present.{layer}.key")
        v = g.op("Concat", f"past_key_values.{layer}.value", v, axis=2, to=f"present.{layer}.value")

    def repeat(t):
        t = g.op("Unsqueeze", t, shape(2))
        t = g.op("Expand", t, shape(1, 1, HEADS // GROUPS, 1, 1))
        return g.op("Reshape", t, shape(0, HEADS, -1, SIZE))

    scores = g.op("MatMul", q, g.op("Transpose", repeat(k), perm=[0, 1, 3, 2]))
    scores = g.op("Div", scores, g.constant(np.sqrt(SIZE)))
    mixed = g.op("MatMul", g.op("Softmax", g.op("Add", scores, mask), axis=-1), repeat(v))
    mixed = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), shape(0, 0, HEADS * SIZE))
    x = g.op("Add", x, g.op("MatMul", mixed, f"o{layer}"))
    hidden = g.op("MatMul", x, f"up{layer}")
    hidden = g.op("Mul", hidden, g.op("Sigmoid", hidden))
    return g.op("Add", x, g.op("MatMul", hidden, f"down{layer}"))


def build(path, weights, cache):
    g = Graph()
    shape = lambda *dims: g.constant(dims, np.int64)
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY])]
    if cache:
        inputs.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "total"]))
        inputs.append(helper.make_tensor_value_info("position_ids", TensorProto.INT64, ["batch", "sequence"]))
        for layer in range(LAYERS):
            for kind in ("key", "value"):
                inputs.append(helper.make_tensor_value_info(
                    f"past_key_values.{layer}.{kind}", TensorProto.FLOAT, ["batch", GROUPS, "past", SIZE]))
                outputs.append(helper.make_tensor_value_info(
                    f"present.{layer}.{kind}", TensorProto.FLOAT, ["batch", GROUPS, "total", SIZE]))
    count = g.op("Shape", "input_ids", start=1, end=2)
    if cache:
        positions = "position_ids"
        total = g.op("Shape", "attention_mask", start=1, end=2)
    else:
        scalar = g.op("Squeeze", count)
        steps = g.op("Range", g.constant(0, np.int64), scalar, g.constant(1, np.int64))
        positions, total = g.op("Unsqueeze", steps, shape(0)), count
    rotary = [g.op("Unsqueeze", g.op("Gather", name, positions), shape(1)) for name in ("cos", "sin")]
    # What comes later than a token is hidden from it.
    keys = g.op("Range", g.constant(0, np.int64), g.op("Squeeze", total), g.constant(1, np.int64))
    later = g.op("Greater", g.op("Unsqueeze", keys, shape(0, 1, 2)), g.op("Unsqueeze", positions, shape(1, 3)))
    mask = g.op("Where", later, g.constant(np.finfo(np.float32).min), g.constant(0.0))
    x = g.op("Gather", "embedding", "input_ids")
    for layer in range(LAYERS):
        x = build_layer(g, x, layer, cache, rotary, mask)
    g.op("MatMul", x, "head", to="logits")
    tensors = [numpy_helper.from_array(v, n) for n, v in {**weights, **g.constants}.items()]
    graph = helper.make_graph(g.nodes, "decoder", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def write_tokenizer(path):
    """Letters, and a few pairs of them; the last token ends a text."""
    vocabulary = {chr(ord("a") + i): i for i in range(26)}
    vocabulary.update({"th": 26, "he": 27, "the": 28, "\u0120": 29, "\u0120the": 30})
    for i in range(31, VOCABULARY):
        vocabulary[f"<{i}>"] = i
    merges = ["t h", "th e", "h e", "\u0120 the"]
    path.write_text(json.dumps({
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [{"id": VOCABULARY - 1, "content": f"<{VOCABULARY - 1}>", "special": True}],
    }))
    return {i: name.replace("\u0120", " ") for name, i in vocabulary.items()}


def generated(*arguments):
    result = onnxq("generate", *arguments, "--json", "--quiet")
    return json.loads(result.stdout) if result.returncode == 0 else {"tokens": None, "error": result.stderr}


def main():
    require_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        weights = make_weights()
        model, plain, tokenizer = folder / "model.onnx", folder / "plain.onnx", folder / "tokenizer.json"
        build(model, weights, cache=True)
        build(plain, weights, cache=False)
        texts = write_tokenizer(tokenizer)

        prompt = [28, 30, 2]
        expected, margin = greedy(weights, prompt, 24)
        check("the reference chooses clearly", margin > 1e-3, margin)
        common = ["--tokenizer", tokenizer, "--prompt", "the thec", "--max-tokens", 24, "--stop", 999]
        result = generated(model, *common)
        check("prompt's tokens", result.get("prompt_tokens") == prompt, result)
        check("greedy, with a cache", result["tokens"] == expected, f"{result} {expected}")
        check("its text", result.get("text") == "".join("" if t == VOCABULARY - 1 else texts[t] for t in expected), result)
        check("speeds are given", result.get("tokens_per_s", 0) > 0 and result.get("prompt_tokens_per_s", 0) > 0, result)
        check("greedy, without a cache", generated(plain, *common)["tokens"] == expected)
        check("by two threads", generated(model, *common, "--threads", 2)["tokens"] == expected)
        streamed = onnxq("generate", model, *common)
        check("text goes to standard output", streamed.stdout == result.get("text", "") + "\n", streamed)
        check("speed is told beside it", "tokens/s" in streamed.stderr, streamed.stderr)
        note = onnxq("generate", plain, *common).stderr
        check("a missing cache is told of", "keeps no KV cache" in note, note)

        library = folder / "model.so"
        compiled = onnxq("compile", model, "-o", library, "--quiet")
        check("compiles", compiled.returncode == 0, compiled.stderr)
        check("greedy, by a library", generated(library, *common)["tokens"] == expected)

        eight = folder / "model.8.onnx"
        quantized = onnxq("quantize", model, "--weight-only", 8, "--block-size", 32, "-o", eight, "--quiet")
        check("weights become bytes", quantized.returncode == 0, quantized.stderr)
        check("greedy, weights of 8 bits", (generated(eight, *common)["tokens"] or [])[:8] == expected[:8])

        by_tokens = ["--prompt-tokens", ",".join(map(str, prompt)), "--max-tokens", 24]
        check("tokens in and out", generated(model, *by_tokens)["tokens"] == expected)
        ended = generated(model, *by_tokens, "--stop", f"500,{expected[5]}")
        first = expected.index(expected[5])
        check("a stop ends the text", ended["tokens"] == expected[:first] and ended["stopped"], ended)
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [expected[5]]}))
        ended = generated(model, *common[:-2])
        check("so does generation_config.json", ended["tokens"] == expected[:first], ended)

        drawn = [generated(model, *by_tokens, "--top-k", 8, "--temperature", 3, "--seed", seed)["tokens"] for seed in (1, 1, 2)]
        check("a seed tells the choice", drawn[0] == drawn[1] and drawn[0] != drawn[2] and drawn[0] is not None, drawn)

        def refused(case, status, words, *arguments):
            result = onnxq("generate", *arguments)
            check(case, result.returncode == status and all(word in result.stderr for word in words), result)

        refused("no prompt", 2, ["one of --prompt"], model, "--tokenizer", tokenizer)
        refused("no tokenizer", 2, ["--tokenizer"], model, "--prompt", "a")
        refused("tokens that are none", 2, ["--prompt-tokens"], model, "--prompt-tokens", "1,b")
        refused("a seed that changes nothing", 2, ["--top-k"], model, *by_tokens, "--seed", 1)
        refused("an empty prompt", 1, ["no tokens"], model, "--tokenizer", tokenizer, "--prompt", "")
        refused("a token beyond the vocabulary", 1, ["n"], model, "--prompt-tokens", "4000000000")
        refused("another kind of tokenizer", 1, ["tokenizer.json", "Unigram"], model, "--prompt", "a",
                "--tokenizer", write(folder / "unigram" / "tokenizer.json", '{"model": {"type": "Unigram"}}'))
        refused("no tokenizer at all", 1, ["tokenizer.json"], model, "--prompt", "a", "--tokenizer", folder / "none" / "tokenizer.json")
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(folder / "relu.onnx"))
        refused("a model that is no decoder", 1, ["relu.onnx", "'input_ids'", "'x'"], folder / "relu.onnx", *by_tokens)
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


if __name__ == "__main__":
    sys.exit(main())
