"""Pictures of text for models that read it, drawn with FreeType: no file, and the same on every machine.

A picture is a uint8 array [height, width, 3]. Words, sizes, colours, noise and places come from a seed.
"""

import ctypes
import ctypes.util
import functools
import pathlib

import numpy as np

FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
FACES = ("DejaVuSans.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif-Bold.ttf")
WORDS = ("open", "model", "Total", "2024", "invoice", "EXIT", "Hello", "world", "price", "Street", "coffee", "98.50",
         "Quantum", "server", "Date", "No.", "37", "machine", "learning", "Paris", "receipt", "thank", "you", "A4",
         "gate", "flight", "room", "1024x768", "north", "WELCOME", "sale", "50%", "fresh", "bread", "music", "library")
RENDER = 4


class Bitmap(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_uint), ("width", ctypes.c_uint), ("pitch", ctypes.c_int),
                ("buffer", ctypes.POINTER(ctypes.c_ubyte)), ("grays", ctypes.c_ushort), ("mode", ctypes.c_ubyte),
                ("palette_mode", ctypes.c_ubyte), ("palette", ctypes.c_void_p)]


class Slot(ctypes.Structure):
    _fields_ = [("library", ctypes.c_void_p), ("face", ctypes.c_void_p), ("next", ctypes.c_void_p),
                ("index", ctypes.c_uint), ("generic", ctypes.c_void_p * 2), ("metrics", ctypes.c_long * 8),
                ("linear", ctypes.c_long * 2), ("advance", ctypes.c_long * 2), ("format", ctypes.c_int),
                ("bitmap", Bitmap), ("left", ctypes.c_int), ("top", ctypes.c_int)]


class Face(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_long * 5), ("names", ctypes.c_char_p * 2), ("num_sizes", ctypes.c_int),
                ("sizes", ctypes.c_void_p), ("num_charmaps", ctypes.c_int), ("charmaps", ctypes.c_void_p),
                ("generic", ctypes.c_void_p * 2), ("box", ctypes.c_long * 4), ("units", ctypes.c_ushort),
                ("metrics", ctypes.c_short * 7), ("glyph", ctypes.POINTER(Slot))]


@functools.lru_cache(None)
def library():
    name = ctypes.util.find_library("freetype")
    freetype = ctypes.CDLL(name) if name else None
    handle = ctypes.c_void_p()
    if freetype is None or freetype.FT_Init_FreeType(ctypes.byref(handle)):
        return None, None
    return freetype, handle


def available():
    return library()[0] is not None and all((FONTS / face).exists() for face in FACES)


@functools.lru_cache(None)
def face(name):
    freetype, handle = library()
    result = ctypes.POINTER(Face)()
    if freetype.FT_New_Face(handle, str(FONTS / name).encode(), ctypes.c_long(0), ctypes.byref(result)):
        raise RuntimeError(f"cannot read the font {name}")
    return result


def line(text, font, size):
    """A line of text as coverage from 0 to 1, [height, width]."""
    freetype, _ = library()
    handle = face(font)
    freetype.FT_Set_Pixel_Sizes(handle, 0, size)
    height, base, pieces, x = int(size * 1.4), int(size * 1.05), [], 0
    for character in text:
        if freetype.FT_Load_Char(handle, ctypes.c_ulong(ord(character)), RENDER):
            continue
        slot = handle.contents.glyph.contents
        bitmap = slot.bitmap
        if bitmap.rows and bitmap.width:
            raw = np.ctypeslib.as_array(bitmap.buffer, (bitmap.rows, abs(bitmap.pitch)))[:, :bitmap.width]
            pieces.append((x + slot.left, base - slot.top, raw / 255.0))
        x += slot.advance[0] >> 6
    canvas = np.zeros((height, max(x, 1) + 2 * size))
    for left, top, glyph in pieces:
        left, top = max(left, 0), max(top, 0)
        part = canvas[top:top + glyph.shape[0], left:left + glyph.shape[1]]
        np.maximum(part, glyph[:part.shape[0], :part.shape[1]], out=part)
    return canvas[:, :max(x, 1)]


def colours(rng):
    """A background and an ink of any colours that can be told apart."""
    while True:
        back, ink = rng.integers(0, 256, 3), rng.integers(0, 256, 3)
        if abs(int(back.sum()) - int(ink.sum())) > 250:
            return back.astype(float), ink.astype(float)


def paper(rng):
    """A background and an ink: dark on light, or sometimes light on dark."""
    back = rng.uniform(170, 250) + rng.normal(0, 12, 3)
    ink = rng.uniform(5, 80) + rng.normal(0, 12, 3)
    return (back, ink) if rng.random() < 0.75 else (ink, back)


def background(rng, height, width, colour):
    """A colour with a slope of light and noise."""
    y, x = np.mgrid[0:height, 0:width]
    slope = rng.normal(0, 20, 2)
    light = slope[0] * (y / max(height, 1) - 0.5) + slope[1] * (x / max(width, 1) - 0.5)
    picture = colour + light[..., None] + rng.normal(0, rng.uniform(0, 6), (height, width, 3))
    return picture


def text_line(seed, height, width):
    """A picture of one line, as a reader of lines gets it: the text fills the height, and most of the width."""
    rng = np.random.default_rng(seed)
    back, ink = colours(rng)
    font, size = FACES[rng.integers(len(FACES))], int(height * rng.uniform(0.55, 0.72))
    text = str(WORDS[rng.integers(len(WORDS))])
    while True:
        longer = text + " " + str(WORDS[rng.integers(len(WORDS))])
        if line(longer, font, size).shape[1] > width - 8:
            break
        text = longer
    mask = line(text, font, size)[:height, :width - 4]
    picture = background(rng, height, width, back)
    top = (height - mask.shape[0]) // 2
    mask = mask[max(0, -top):]
    top = max(top, 0)
    part = picture[top:top + mask.shape[0], 2:2 + mask.shape[1]]
    mask = mask[:part.shape[0], :part.shape[1], None]
    part[:] = part * (1 - mask) + ink * mask
    return np.clip(picture, 0, 255).astype(np.uint8)


def page(seed, height, width, lines=12):
    """A picture with several lines of text of different sizes at different places."""
    rng = np.random.default_rng(seed)
    back, ink = paper(rng)
    picture = background(rng, height, width, back)
    for _ in range(lines):
        font, size = FACES[rng.integers(len(FACES))], int(rng.integers(height // 40 + 8, max(height // 10, height // 40 + 9)))
        text = " ".join(str(WORDS[rng.integers(len(WORDS))]) for _ in range(rng.integers(1, 4)))
        mask = line(text, font, size)
        mask = mask[:height, :width]
        top = int(rng.integers(0, max(1, height - mask.shape[0])))
        left = int(rng.integers(0, max(1, width - mask.shape[1])))
        part = picture[top:top + mask.shape[0], left:left + mask.shape[1]]
        mask = mask[..., None]
        part[:] = part * (1 - mask) + (ink + rng.normal(0, 10, 3)) * mask
    return np.clip(picture, 0, 255).astype(np.uint8)
