"""Snippets that people wrote for earlier tools, as they are, run in folders
where the files that they name exist."""

import runpy
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from conftest import digits_model, make_model, tensor
from onnx import helper, numpy_helper

from onnxquant import compat


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "path" / "to" / "the"
    folder.mkdir(parents=True)
    return folder


def run(code, *flags):
    """Runs a script by `python -m onnxquant.compat`."""
    with open("script.py", "w") as file:
        file.write(textwrap.dedent(code))
    result = subprocess.run([sys.executable, "-m", "onnxquant.compat", *flags, "script.py"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    assert result.returncode == 0, result.stdout
    return result.stdout


def two_products():
    """A model with tensors input_1 and output_1."""
    return make_model([helper.make_node("MatMul", ["input_1", "w"], ["output_1"], name="product")],
                      [("input_1", [1, 16])], [("output_1", [1, 4])], [tensor("w", 16, 4)])


MODES = {
    "integer": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.IntegerOps)
        """,
    "integer static": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.IntegerOps,
                                   static=True,
                                   input_quantization_params={
                                        'input_1': [np.uint8(113), np.float32(0.05)]
                                   })
        """,
    "integer dynamic": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.IntegerOps, static=False)
        """,
    "qlinear static": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.QLinearOps,
                                   static=True,
                                   input_quantization_params={
                                        'input_1': [np.uint8(113), np.float32(0.05)]
                                   },
                                   output_quantization_params={
                                        'output_1': [np.uint8(113), np.float32(0.05)]
                                   })
        """,
    "qlinear dynamic": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.QLinearOps,
                                   static=False,
                                   output_quantization_params={
                                        'output_1': [np.uint8(113), np.float32(0.05)]
                                   })
        """,
    "four modes, one": """
        quantized_model = quantize(model, per_channel=False, quantization_mode=QuantizationMode.IntegerOps_Dynamic)
        """,
    "four modes, two": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.IntegerOps_Static,
                                   input_quantization_params={'input_1': [np.uint8(113), np.float32(0.05)]})
        """,
    "four modes, three": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.QLinearOps_Static,
                                   input_quantization_params={'input_1': [np.uint8(113), np.float32(0.05)]},
                                   output_quantization_params={'output_1': [np.uint8(113), np.float32(0.05)]})
        """,
    "four modes, four": """
        quantized_model = quantize(model, quantization_mode=QuantizationMode.QLinearOps_Dynamic,
                                   output_quantization_params={'output_1': [np.uint8(113), np.float32(0.05)]})
        """,
}


@pytest.mark.parametrize("mode", MODES)
def test_quantize_of_old(mode, place):
    onnx.save(two_products(), "path/to/the/model.onnx")
    head = """
        import onnx
        from quantize import quantize, QuantizationMode

        # Load the onnx model
        model = onnx.load('path/to/the/model.onnx')
        """
    tail = """
        # Save the quantized model
        onnx.save(quantized_model, 'path/to/the/quantized_model.onnx')
        """
    run("import numpy as np\n" + textwrap.dedent(head) + textwrap.dedent(MODES[mode]) + textwrap.dedent(tail), "--legacy")
    quantized = onnx.load("path/to/the/quantized_model.onnx")
    ops = [node.op_type for node in quantized.graph.node]
    assert ("MatMulInteger" if "integer" in mode or "one" in mode or "two" in mode else "QLinearMatMul") in ops
    constants = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}
    if "static" in mode or "two" in mode or "three" in mode:
        assert constants["input_1_scale"] == np.float32(0.05) and constants["input_1_zero_point"] == 113
    import onnxquant as oq

    x = np.random.default_rng(0).uniform(-2, 2, (1, 16)).astype(np.float32)
    assert np.abs(oq.compile(quantized)(x) - oq.compile(two_products())(x)).max() < 0.2


def test_calibrate_script(place, tmp_path):
    """calibrate.py on a file of tensors, and on images."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")]
    model = make_model(nodes, [("x", [1, 3, 16, 16])], [("y", [1, 4, 14, 14])], [tensor("w", 4, 3, 3, 3)])
    onnx.save(model, "model.onnx")
    data = np.random.default_rng(0).normal(size=(4, 1, 3, 16, 16)).astype(np.float32)
    with open("set.pb", "wb") as file:
        file.write(numpy_helper.from_array(data, "x").SerializeToString())
    from onnxquant.compat import legacy

    script = legacy.__path__[0] + "/calibrate.py"
    subprocess.run([sys.executable, "-m", "onnxquant.compat", "--legacy", script, "--model_path=model.onnx",
                    "--dataset_path=set.pb", "--calib_mode=naive"], check=True, stdout=subprocess.DEVNULL)
    quantized = onnx.load("calibrated_quantized_model.onnx")
    assert "QLinearConv" in [node.op_type for node in quantized.graph.node]
    scale = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}["x_scale"]
    assert scale == np.float32((max(data.max(), 0) - min(data.min(), 0)) / 255)
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    for i in range(2):
        image.new("RGB", (20, 20), (i, 60, 200)).save(f"images/{i}.png")
    subprocess.run([sys.executable, "-m", "onnxquant.compat", "--legacy", script, "--model_path=model.onnx",
                    "--dataset_path=images", "--calib_mode=naive", "--data_preprocess=preprocess_method1",
                    "--output_model_path=second.onnx"], check=True, stdout=subprocess.DEVNULL)
    assert onnx.load("second.onnx").graph.node


def test_dynamic(place):
    onnx.save(digits_model(), "path/to/the/model.onnx")
    run("""
        import onnx
        from onnxruntime.quantization import quantize_dynamic, QuantType

        model_fp32 = 'path/to/the/model.onnx'
        model_quant = 'path/to/the/model.quant.onnx'
        quantized_model = quantize_dynamic(model_fp32, model_quant, weight_type=QuantType.QUInt8)
        """)
    ops = [node.op_type for node in onnx.load("path/to/the/model.quant.onnx").graph.node]
    assert "ConvInteger" in ops and "DynamicQuantizeLinear" in ops


def test_qat(place):
    onnx.save(digits_model(), "path/to/the/model.onnx")
    run("""
        import onnx
        from onnxruntime.quantization import quantize_qat, QuantType

        model_fp32 = 'path/to/the/model.onnx'
        model_quant = 'path/to/the/model.quant.onnx'
        quantized_model = quantize_qat(model_fp32, model_quant)
        """)
    assert onnx.load("path/to/the/model.quant.onnx").graph.node


def test_tables(place):
    """Calibration tables in three formats."""
    onnx.save(digits_model(), "model.onnx")
    run("""
        import numpy as np
        from onnxruntime.quantization import CalibrationDataReader, create_calibrator, write_calibration_table

        class Reader(CalibrationDataReader):
            def __init__(self):
                self.left = 3
            def get_next(self):
                self.left -= 1
                return {"image": np.full((1, 1, 28, 28), self.left, np.float32)} if self.left >= 0 else None

        calibrator = create_calibrator("model.onnx", [], augmented_model_path="augmented_model.onnx")
        calibrator.set_execution_providers(["CPUExecutionProvider"])
        data_reader = Reader()
        calibrator.collect_data(data_reader)
        write_calibration_table(calibrator.compute_range())
        """)
    import json

    import onnxquant as oq

    assert json.load(open("calibration.json"))["image"] == [0, 2]
    for name in ("calibration.json", "calibration.cache", "calibration.flatbuffers"):
        assert "image" in oq.Table.load(name)


def test_preprocess_command(place):
    onnx.save(digits_model(), "mobilenetv2-7.onnx")
    for more in ([], ["--skip_symbolic_shape", "True"]):
        subprocess.run([sys.executable, "-m", "onnxquant.compat", "-m", "onnxruntime.quantization.preprocess", "--input",
                        "mobilenetv2-7.onnx", "--output", "mobilenetv2-7-infer.onnx", *more], check=True)
        model = onnx.load("mobilenetv2-7-infer.onnx")
        assert any(p.key == "onnx.quant.pre_process" and p.value == "onnxruntime.quant" for p in model.metadata_props)


def test_install_twice():
    assert compat.install(force=True) and compat.install()
    import onnxruntime

    assert onnxruntime.get_available_providers() == ["CPUExecutionProvider"]
    compat.uninstall()
    assert "onnxruntime" not in sys.modules
    assert runpy  # the runner's way in


@pytest.fixture
def pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "test_images").mkdir()
    random = np.random.default_rng(0)
    for i in range(3):
        pixels = random.integers(0, 255, (20, 24, 3), dtype=np.uint8)
        image.fromarray(pixels).save(tmp_path / "test_images" / f"{i}.png")
    return tmp_path / "test_images"


def test_examples(place, pictures):
    """run.py and run_qdq_debug.py as they are called."""
    import pathlib

    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv"),
             helper.make_node("Relu", ["c"], ["y"], name="relu")]
    onnx.save(make_model(nodes, [("x", [1, 3, 16, 16])], [("y", [1, 4, 14, 14])], [tensor("w", 4, 3, 3, 3), tensor("b", 4)]),
              "mobilenetv2-7-infer.onnx")
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"

    def start(script, *arguments):
        return subprocess.run([sys.executable, "-m", "onnxquant.compat", str(examples / script), *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    printed = start("run.py", "--input_model", "mobilenetv2-7-infer.onnx", "--output_model", "mobilenetv2-7.quant.onnx",
                    "--calibrate_dataset", "./test_images/")
    assert "quantized model saved" in printed
    printed = start("run_qdq_debug.py", "--float_model", "mobilenetv2-7-infer.onnx", "--qdq_model",
                    "mobilenetv2-7.quant.onnx", "--calibrate_dataset", "./test_images/")
    assert "'w'" in printed and "'x'" in printed


def yolo_model():
    """Two boxes for any image."""
    boxes = np.array([[[0, 0, 10, 10], [5, 5, 20, 24]]], np.float32)
    scores = np.zeros((1, 80, 2), np.float32)
    scores[0, 0, 0], scores[0, 1, 1] = 0.9, 0.8
    nodes = [
        helper.make_node("ReduceMean", ["input_1"], ["m1"], axes=[0, 1, 2, 3], keepdims=0),
        helper.make_node("ReduceMean", ["image_shape"], ["m2"], axes=[0, 1], keepdims=0),
        helper.make_node("Add", ["m1", "m2"], ["m"]), helper.make_node("Mul", ["m", "zero"], ["z"]),
        helper.make_node("Add", ["all_boxes", "z"], ["boxes"]), helper.make_node("Add", ["all_scores", "z"], ["scores"]),
        helper.make_node("Identity", ["chosen"], ["indices"]),
    ]
    graph = helper.make_graph(
        nodes, "yolo",
        [helper.make_tensor_value_info("input_1", 1, [1, 3, 64, 64]),
         helper.make_tensor_value_info("image_shape", 1, [1, 2])],
        [helper.make_tensor_value_info("boxes", 1, [1, 2, 4]), helper.make_tensor_value_info("scores", 1, [1, 80, 2]),
         helper.make_tensor_value_info("indices", 7, [2, 3])],
        [numpy_helper.from_array(boxes, "all_boxes"), numpy_helper.from_array(scores, "all_scores"),
         numpy_helper.from_array(np.float32(0), "zero"),
         numpy_helper.from_array(np.array([[0, 0, 0], [0, 1, 1]], np.int64), "chosen")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    return model


def test_yolov3(place, pictures, capsys):
    import json

    from onnxquant.compat.yolov3 import YoloV3DataReader, YoloV3Evaluator

    onnx.save(yolo_model(), "yolov3.onnx")
    with open("annotations.json", "w") as file:
        json.dump({
            "images": [{"id": i + 1, "file_name": f"{i}.png", "width": 24, "height": 20} for i in range(3)],
            "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "bicycle"}],
            "annotations": [{"id": i + 1, "image_id": i + 1, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100,
                             "iscrowd": 0} for i in range(3)]}, file)
    results = []
    for i in range(0, 3, 2):
        dr = YoloV3DataReader(pictures, width=64, height=64, model_path="yolov3.onnx", start_index=i, size_limit=2,
                              batch_size=20, is_evaluation=True, annotations="annotations.json")
        evaluator = YoloV3Evaluator("yolov3.onnx", dr, width=64, height=64, providers=["CPUExecutionProvider"])
        evaluator.predict()
        results += evaluator.get_result()
    assert len(results) == 6 and results[0]["bbox"] == [0, 0, 10, 10] and results[0]["category_id"] == 1
    evaluator.evaluate(results, "annotations.json")
    printed = capsys.readouterr().out.splitlines()
    figures = {line.split()[0]: line.split()[1] for line in printed if line.startswith(("AP", "AR"))}
    # The only class with a truth is found in each picture.
    assert len(figures) == 12 and figures["AP"] == figures["AP75"] == "1.000", printed
    reader = YoloV3DataReader(pictures, width=64, height=64, model_path="yolov3.onnx")
    sample = reader.get_next()
    assert sample["input_1"].shape == (1, 3, 64, 64) and sample["image_shape"].tolist() == [[20, 24]]


def test_calibration_with_yolov3(place, pictures):
    onnx.save(yolo_model(), "yolov3.onnx")
    run(f"""
        from onnxquant.compat.yolov3 import YoloV3DataReader
        from onnxruntime.quantization import create_calibrator, write_calibration_table

        calibration_dataset, augmented_model_path = {str(pictures)!r}, "augmented_model.onnx"
        calibrate = create_calibrator("yolov3.onnx", [], augmented_model_path=augmented_model_path)
        data_reader = YoloV3DataReader(calibration_dataset, width=64, height=64, model_path=augmented_model_path)
        calibrate.collect_data(data_reader)
        write_calibration_table(calibrate.compute_range())
        """)
    import json

    table = json.load(open("calibration.json"))
    assert table["image_shape"] == [20, 24] and 0 <= table["input_1"][0] < table["input_1"][1] <= 1


def test_parameters_of_signs_and_names(place):
    """Names with slashes and colons; zero points of np.int8 and np.uint8."""
    nodes = [helper.make_node("MatMul", ["resnet_model/Relu_1:0", "v"], ["resnet_model/Relu_3:0"], name="first"),
             helper.make_node("MatMul", ["resnet_model/Relu_3:0", "w"], ["resnet_model/Relu_4:0"], name="second")]
    onnx.save(make_model(nodes, [("resnet_model/Relu_1:0", [1, 16])], [("resnet_model/Relu_4:0", [1, 4])],
                         [tensor("v", 16, 16), tensor("w", 16, 4)]), "path/to/the/model.onnx")
    run("""
        import numpy as np
        import onnx
        from quantize import quantize, QuantizationMode

        model = onnx.load('path/to/the/model.onnx')
        quantized_model = quantize(model, quantization_mode=QuantizationMode.QLinearOps_Static,
            input_quantization_params={
                'resnet_model/Relu_1:0': [np.uint8(0), np.float32(0.019539741799235344)],
            },
            output_quantization_params={
                'resnet_model/Relu_3:0': [np.int8(0), np.float32(0.011359662748873234)],
                'resnet_model/Relu_4:0': [np.uint8(0), np.float32(0.011359662748873234)]
            })
        onnx.save(quantized_model, 'path/to/the/quantized_model.onnx')
        """, "--legacy")
    quantized = onnx.load("path/to/the/quantized_model.onnx")
    assert [node.op_type for node in quantized.graph.node].count("QLinearMatMul") == 2
    constants = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}
    for name, scale in (("Relu_1:0", 0.019539741799235344), ("Relu_3:0", 0.011359662748873234)):
        assert constants[f"resnet_model/{name}_scale"] == np.float32(scale)


def test_help_of_preprocess(place):
    printed = subprocess.run([sys.executable, "-m", "onnxquant.compat", "-m", "onnxruntime.quantization.preprocess", "--help"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    assert all(name in printed for name in ("--input", "--output", "--skip_optimization", "--skip_symbolic_shape"))


def test_runner(place):
    onnx.save(two_products(), "model.onnx")
    import os

    for i in range(2):
        os.mkdir(f"test_data_set_{i}")
        array = np.random.default_rng(i).normal(size=(1, 16)).astype(np.float32)
        with open(f"test_data_set_{i}/input_0.pb", "wb") as file:
            file.write(numpy_helper.from_array(array, "input_1").SerializeToString())
    subprocess.run([sys.executable, "-m", "onnxquant.compat", "-m", "onnxruntime.quantization.static_quantize_runner", "-i",
                    "model.onnx", "-o", "q.onnx", "--per_channel", "--op_per_channel_axis", "MatMul", "1"], check=True)
    assert "w_quantized" in [t.name for t in onnx.load("q.onnx").graph.initializer]
