"""The native API: models, data of every kind, sessions, reports."""

import json
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import pytest

import onnxquant as oq


def test_import_is_light():
    """Neither LLVM nor onnx nor NumPy comes with the package's import."""
    code = (
        "import sys, onnxquant; "
        "maps = open('/proc/self/maps').read(); "
        "assert 'libLLVM' not in maps and 'libMLIR' not in maps; "
        "assert 'onnx' not in sys.modules and 'onnxquant._compiler' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("order", ["import onnx, onnxquant._compiler", "import onnxquant._compiler, onnx"])
def test_beside_onnx(order, model):
    """Both protobuf packages in one process, both used."""
    code = (
        f"{order}; import onnxquant as oq; m = onnx.load({model!r}); q = oq.quantize(m, mode='integer', dynamic=True); "
        "onnx.checker.check_model(q.to_onnx()); assert oq.load(m).inputs"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_library_needs_no_llvm(model, tmp_path, digits):
    oq.compile(model, out=tmp_path / "m.so")
    code = (
        f"import numpy as np, onnxquant as oq; s = oq.open_library({str(tmp_path / 'm.so')!r}); "
        "s(np.zeros((1, 1, 28, 28), np.float32)); assert 'libLLVM' not in open('/proc/self/maps').read()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_model(model, tmp_path):
    loaded = oq.load(pathlib.Path(model))
    assert [t.name for t in loaded.inputs] == ["image"]
    assert loaded.outputs[0].shape == ("N", 10)
    assert ("fc", "Gemm") in loaded.nodes
    assert loaded.info()["ops"]["Conv"] == 2
    assert "onnx.Conv" in loaded.mlir()
    loaded.save(tmp_path / "copy.onnx")
    assert oq.load(tmp_path / "copy.onnx").nodes == loaded.nodes
    assert "<table>" in loaded._repr_html_()


def test_model_proto_stays(model, digits):
    proto = onnx.load(model)
    before = proto.SerializeToString()
    oq.quantize(proto, digits)
    assert proto.SerializeToString() == before


def test_same_from_memory_and_file(model, digits, tmp_path):
    oq.quantize(model, digits, out=tmp_path / "q.onnx")
    assert oq.quantize(model, digits).to_bytes() == (tmp_path / "q.onnx").read_bytes()


class Reader:
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(({"image": sample} for sample in self.samples), None)


def kinds(digits, tmp_path):
    np.save(tmp_path / "digits.npy", digits)
    rows = [digits[i : i + 1] for i in range(len(digits))]
    return {
        "array": digits, "path": tmp_path / "digits.npy", "text": str(tmp_path / "digits.npy"),
        "dictionary": {"image": digits}, "list of dictionaries": [{"image": row} for row in rows],
        "list of arrays": rows, "list of tuples": [(row,) for row in rows],
        "generator": ({"image": row} for row in rows), "function": lambda: iter(rows), "reader": Reader(rows),
        "without the batch": [row[0] for row in rows], "fortran": [np.asfortranarray(row) for row in rows],
    }


def test_data_of_every_kind(model, digits, tmp_path):
    expected = dict(oq.calibrate(model, digits))
    assert expected["image"] == (float(digits.min()), float(digits.max()))
    for kind, data in kinds(digits, tmp_path).items():
        assert dict(oq.calibrate(model, data)) == expected, kind


def test_samples_of_other_shapes(digits, tmp_path):
    from conftest import make_model, tensor
    from onnx import helper

    open_model = make_model(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="c")], [("x", [1, 1, "H", "W"])], [("y", [1, 2, "a", "b"])],
        [tensor("w", 2, 1, 3, 3)])
    shapes = [(8, 8), (8, 8), (12, 9), (8, 8), (5, 20)]
    samples = [np.random.default_rng(i).normal(size=(1, 1, *s)).astype(np.float32) for i, s in enumerate(shapes)]
    table = oq.calibrate(open_model, iter(samples))
    assert table.samples == 5
    assert table["x"] == (float(min(s.min() for s in samples)), float(max(s.max() for s in samples)))


def test_limit_of_an_endless_stream(model, digits):
    def forever():
        while True:
            yield digits[:1]

    assert oq.calibrate(model, forever(), limit=5).samples == 5


def test_table(model, digits, tmp_path):
    table = oq.calibrate(model, digits, histogram=True)
    again = pickle.loads(pickle.dumps(table))
    assert dict(again) == dict(table)
    assert table.ranges("percentile", percentile=90)["c1"] != table["c1"]
    for name in ("t.json", "t.cache", "t.flatbuffers"):
        table.save(tmp_path / name)
        assert set(oq.Table.load(tmp_path / name)) == set(table)
    halves = [oq.calibrate(model, digits[i::2], histogram=True) for i in range(2)]
    assert halves[0].merge(halves[1]).statistics() == table.statistics()
    by_table = oq.quantize(model, table=table).to_bytes()
    assert by_table == oq.quantize(model, digits).to_bytes()
    assert oq.quantize(model, table=tmp_path / "t.json").to_bytes() == by_table


def test_quantized_is_close(model, digits):
    quantized = oq.quantize(model, digits, per_channel=True)
    assert quantized.report.quantized > 0
    assert "html" not in quantized.report._repr_html_() and "<table>" in quantized.report._repr_html_()
    assert np.abs(oq.compile(quantized)(digits) - oq.compile(model)(digits)).max() < 0.1


def test_quantized_within_bounds(model, digits, tmp_path):
    """The search of the command line by keywords; labels are a list."""
    def noise(quantized):
        return 20 * np.log10(np.linalg.norm(right) / np.linalg.norm(right - oq.compile(quantized)(held)))

    # Every second sample is held back.
    held = digits[::2]
    right = oq.compile(model)(held)
    bound = noise(oq.quantize(model, digits)) + 6
    found = oq.quantize(model, digits, min_sqnr=bound, target="x86-64-v3", report=tmp_path / "page.html")
    assert noise(found) >= bound
    budget = found.report.data["budget"]
    assert budget["held_back_samples"] == len(held)
    assert budget["frontier"][budget["chosen"]["index"]]["holds"]
    assert "<svg" in (tmp_path / "page.html").read_text()
    labels = oq.compile(model)(digits).argmax(1)
    within = oq.quantize(model, digits, max_drop="50%", labels=list(labels), target="x86-64-v3")
    assert within.report.data["budget"]["frontier"][0]["reference_top1"] == 1
    with pytest.raises(oq.QuantizeError, match="can't be met"):
        oq.quantize(model, digits, min_sqnr=500, target="x86-64-v3")
    with pytest.raises(ValueError, match="means nothing with dynamic"):
        oq.quantize(model, dynamic=True, min_sqnr=20)


def test_quantized_only_where_faster(model, digits):
    quantized = oq.quantize(model, digits, only_where_faster=True, target="x86-64-v3")
    assert any("longer" in note and "on x86-64-v3 (by a model" in note for note in quantized.report.data["notes"])
    with pytest.raises(ValueError, match="is for static"):
        oq.quantize(model, dynamic=True, only_where_faster=True)


def test_session(model, digits):
    session = oq.compile(model)
    result = session.run({"image": digits})
    assert set(result) == {"scores"} and result["scores"].dtype == np.float32
    np.testing.assert_array_equal(session(digits), result["scores"])
    turned = np.asfortranarray(digits)
    np.testing.assert_array_equal(session(turned), result["scores"])
    fixed = oq.compile(model, dims={"N": 8})
    out = np.zeros((8, 10), np.float32)
    given = fixed.run({"image": digits}, out={"scores": out})
    assert given["scores"] is out and out.any()
    np.testing.assert_array_equal(out, result["scores"])
    # Of an open size, too.
    again = np.zeros_like(out)
    assert session.run({"image": digits}, out={"scores": again})["scores"] is again
    np.testing.assert_array_equal(again, out)
    for wrong in (np.zeros((9, 10), np.float32), np.zeros((7, 10), np.float32), np.zeros((8, 10), np.float64)):
        with pytest.raises(oq.DataError, match="scores"):
            session.run({"image": digits}, out={"scores": wrong})
    assert "<table>" in session._repr_html_()
    assert session.bench(runs=5)["runs"] == 5
    np.from_dlpack(result["scores"])


class Shared:
    """What other frameworks give: memory by DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(model, digits):
    session = oq.compile(model)
    np.testing.assert_array_equal(session(Shared(digits)), session(digits))
    assert dict(oq.calibrate(model, [Shared(digits)])) == dict(oq.calibrate(model, [digits]))


def test_threads_in_one_session(model, digits):
    session = oq.compile(model)
    expected = session(digits)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(session(digits), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_gil_is_released(model, digits):
    """Another thread goes on while a model is compiled."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    oq.compile(model, cache="")
    end = time.monotonic()
    done.set()
    thread.join()
    assert sum(start < t < end for t in ticks) >= 3


def test_progress(model, digits):
    seen = []
    oq.calibrate(model, list(digits[:, None]), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (8, 8)
    with pytest.raises(ZeroDivisionError):
        oq.calibrate(model, digits, progress=lambda done, total: 1 / 0)


def test_comparison(model, digits):
    quantized = oq.quantize(model, digits)
    comparison = oq.compare(model, quantized, iter(digits[:2]))
    assert comparison.tensors and comparison.weights and comparison.to_html().lstrip().startswith("<!")
    assert "<iframe" in comparison._repr_html_()
    figures = comparison.arrays()
    assert list(figures["name"]) == [tensor["name"] for tensor in comparison.tensors]
    assert figures["xmodel_err"].dtype == np.float64 and np.isfinite(figures["xmodel_err"]).any()
    assert oq.sensitivity(model, digits[:2]).layers
    result = oq.evaluate(quantized, digits, reference=model, labels=[0] * 8, metric="top1,sqnr")
    assert result["samples"] == 8


def test_images(tmp_path, model):
    image = pytest.importorskip("PIL.Image")
    for i in range(3):
        image.new("L", (40, 30), color=40 * i).save(tmp_path / f"{i}.png")
    table = oq.calibrate(model, oq.Images(tmp_path, size=(28, 28), scale=1 / 255))
    assert table.samples == 3
    assert table["image"][1] == pytest.approx(80 / 255, abs=1e-6)


def test_library(model, digits, tmp_path):
    session = oq.compile(model, out=tmp_path / "digits.so")
    np.testing.assert_array_equal(session(digits), oq.open_library(tmp_path / "digits.so")(digits))
    assert oq.compile(model, out=tmp_path / "digits.o", target="aarch64", dims={"N": 1}) is None
    assert (tmp_path / "digits.h").exists()


def test_profile(model):
    rows = oq.compile(model, profile=True, dims={"N": 1}).profile(runs=3)
    assert rows and rows[0]["ms"] >= 0


def test_preprocess(model, tmp_path):
    prepared = oq.preprocess(model, dims={"N": 4}, out=tmp_path / "p.onnx")
    assert prepared.inputs[0].shape == (4, 1, 28, 28)
    assert all("count" in change for change in prepared.changes)


def declared_options(name, folder):
    """The options of a pass as llvm-tblgen reads them from Passes.td."""
    root = pathlib.Path(__file__).resolve().parents[2]
    output = subprocess.run(
        ["/usr/lib/llvm-22/bin/llvm-tblgen", "--dump-json", "-I", str(root / "include"), "-I",
         "/usr/lib/llvm-22/include", str(root / f"include/OnnxQuant/Transforms/{folder}/Passes.td")],
        check=True, stdout=subprocess.PIPE).stdout
    records = json.loads(output)
    for group in (records[entry["def"]] for entry in records[name]["groups"]):
        if not group["isOfPassOnly"]:
            for option in group["options"]:
                yield records[option["def"]]["argument"].replace("-", "_")


def test_every_option_is_a_keyword(model, digits):
    """What Passes.td declares is all that a keyword needs."""
    quantize = list(declared_options("Quantize", "Quantize"))
    calibrate = [name for name in declared_options("Calibrate", "Calibrate") if name != "data"]
    assert len(quantize) > 40 and oq.options() == quantize
    nothing = dict.fromkeys([*quantize, *calibrate])
    observed = ("all", "op_types", "nodes", "histogram", "checkpoint")
    assert dict(oq.calibrate(model, digits, **dict.fromkeys(calibrate))) == dict(oq.calibrate(model, digits))
    oq.quantize(model, digits, **{name: None for name in nothing if name not in observed})
    oq.Images("photos", **{name: None for name in calibrate if name in _IMAGES})
    with pytest.raises(TypeError, match="no option 'qat'"):
        oq.calibrate(model, digits, qat=1)


_IMAGES = ("size", "crop", "filter", "letterbox", "multiple_of", "pad_color", "pad_at")


def test_options_of_images(tmp_path, model):
    """Values as Python has them: tuples, numbers, paths."""
    image = pytest.importorskip("PIL.Image")
    image.new("L", (56, 28), color=100).save(tmp_path / "wide.png")
    stretched = oq.calibrate(model, tmp_path, size=(28, 28), mean=(50,), scale=[0.5], filter="box")
    assert stretched["image"] == (25.0, 25.0)
    boxed = oq.calibrate(model, oq.Images(tmp_path, size=(28, 28), letterbox=True, pad_color=(7,), scale=1))
    assert boxed["image"] == (7.0, 100.0)
    with pytest.raises(ValueError, match="limit expects an integer, but got '2.5'"):
        oq.calibrate(model, tmp_path, limit=2.5)
    with pytest.raises(ValueError, match="scale is for images, but samples are arrays"):
        oq.calibrate(model, np.zeros((1, 1, 28, 28), np.float32), scale=2)
