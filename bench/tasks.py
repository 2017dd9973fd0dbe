"""What a quantized model's results mean: each function is given lists of results, a dictionary of outputs for each
sample, of the float model and of another one, and gives (name, value, text)."""

import numpy as np


def first(result):
    return next(iter(result.values()))


def shares(hits):
    hits = np.concatenate([np.ravel(part) for part in hits])
    return f"{hits.sum()} of {hits.size}"


def best_class(reference, other):
    """How often the best class is the float model's."""
    return "best class kept", shares([first(a).argmax(-1) == first(b).argmax(-1) for a, b in zip(reference, other)])


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30)


def cosine(reference, other):
    values = [float((unit(first(a).ravel()) * unit(first(b).ravel())).sum()) for a, b in zip(reference, other)]
    return "least cosine", f"{min(values):.4f}"


def pooled(reference, other):
    """Embeddings of sentences: the mean over tokens."""
    means = [np.stack([first(result).mean(1)[0] for result in results]) for results in (reference, other)]
    units = [unit(mean - 0) for mean in means]
    return "least cosine of embeddings", f"{(units[0] * units[1]).sum(-1).min():.4f}"


def largest_difference(reference, other):
    return "largest difference", f"{max(np.abs(first(a) - first(b)).max() for a, b in zip(reference, other)):.3f}"


def peak(reference, other):
    """Decibels between pictures from 0 to 1."""
    error = np.mean([np.mean((np.clip(first(a), 0, 1) - np.clip(first(b), 0, 1)) ** 2) for a, b in zip(reference, other)])
    return "PSNR", f"{10 * np.log10(1 / max(error, 1e-12)):.1f} dB"


def mask(reference, other):
    overlaps = []
    for a, b in zip(reference, other):
        one, two = first(a) > 0.5, first(b) > 0.5
        overlaps.append((one & two).sum() / max((one | two).sum(), 1))
    return "IoU of masks", f"{np.mean(overlaps):.3f}"


def overlap(box, boxes):
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.maximum(high - low, 0), 1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], 1)
    return shared / np.maximum(np.prod(box[2:] - box[:2]) + areas - shared, 1e-9)


def detections(output, least=0.25, apart=0.5):
    """Boxes (corners, class, score) of YOLOv8's output [1, 4 + classes, places] after suppression."""
    rows = output[0].T
    scores, kinds = rows[:, 4:].max(1), rows[:, 4:].argmax(1)
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] > least]
    corners = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1)
    kept = []
    for index in order:
        if all(kinds[index] != kinds[k] or overlap(corners[index], corners[k:k + 1])[0] < apart for k in kept):
            kept.append(index)
    return corners[kept], kinds[kept]


def matches(one, two):
    """Boxes of one that two has, of the same class."""
    (boxes, kinds), (others, other_kinds) = one, two
    return sum(bool(((overlap(box, others) > 0.5) & (other_kinds == kind)).any()) for box, kind in zip(boxes, kinds))


def boxes(reference, other):
    """F1 of boxes and classes beside the float model's."""
    found = shared = 0
    for a, b in zip(reference, other):
        one, two = detections(first(a)), detections(first(b))
        found += len(one[0]) + len(two[0])
        shared += matches(one, two) + matches(two, one)
    return "boxes, F1", f"{shared / found:.2f} of {found // 2}" if found else "no boxes"


def best_boxes(reference, other):
    """Overlap of the most likely face."""
    values = []
    for a, b in zip(reference, other):
        best = [result["boxes"][0][result["scores"][0, :, 1].argmax()] for result in (a, b)]
        values.append(overlap(best[0], best[1][None])[0])
    return "IoU of the best box", f"{np.mean(values):.2f}"


def duration(reference, other):
    """Lengths of sounds beside the float model's, and how near samples are where lengths are equal."""
    lengths = [first(b).size / first(a).size for a, b in zip(reference, other)]
    equal = [(first(a), first(b)) for a, b in zip(reference, other) if first(a).size == first(b).size]
    noise = [20 * np.log10(np.linalg.norm(a) / max(np.linalg.norm(a - b), 1e-30)) for a, b in equal]
    text = f"{len(equal)} of {len(lengths)} as long"
    return "length", f"{text}, SNR {min(noise):.1f} dB" if noise else f"{text}, {min(lengths):.3f} to {max(lengths):.3f}"
