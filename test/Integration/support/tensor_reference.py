"""Plain reference loops in 64 bits for the ops that numpy has no function for."""

import itertools
import math

import numpy as np


def kernel(distance, cubic, a):
    """The weight of an element at a distance: a triangle, or Keys' cubic with coefficient a."""
    x = abs(distance)
    if not cubic:
        return max(0.0, 1 - x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def coordinate(o, size, width, out, scale, mode, roi):
    """Where position o of a resized axis lies in the input."""
    if mode == "asymmetric":
        return o / scale
    if mode == "align_corners":
        return 0.0 if width == 1 else o * (size - 1) / (width - 1)
    if mode == "tf_half_pixel_for_nn":
        return (o + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        extent = (end - start) * (size - 1)
        return start * (size - 1) + (o * extent / (out - 1) if out > 1 else extent / 2)
    if mode == "pytorch_half_pixel" and out == 1:
        return 0.0
    offset = size / 2 * (1 - out / width) if mode == "half_pixel_symmetric" else 0.0
    return offset + (o + 0.5) / scale - 0.5


def resize_axis(x, axis, out, scale, width, mode, transform, rounding, antialias, exclude, a, roi):
    """One axis resized, and which of its positions are inside of the input."""
    size = x.shape[axis]
    weights, inside = np.zeros((out, size)), np.ones(out, bool)
    for o in range(out):
        at = coordinate(o, size, width, out, scale, transform, roi)
        if transform == "tf_crop_and_resize" and not 0 <= at <= size - 1:
            inside[o] = False
            continue
        if mode == "nearest":
            at = round(at * 2**16) / 2**16  # what rounding left of ties
            left = math.floor(at)
            rest = at - left
            step = {"floor": False, "ceil": rest > 0, "round_prefer_floor": rest > 0.5, "round_prefer_ceil": rest >= 0.5}
            weights[o, min(max(left + step[rounding], 0), size - 1)] = 1
            continue
        support = 2 if mode == "cubic" else 1
        squeeze = min(scale, 1.0) if antialias else 1.0
        first, left = math.floor(-support / squeeze) + 1, math.floor(at)
        taps = [(left + t, kernel((t - (at - left)) * squeeze, mode == "cubic", a)) for t in range(first, 2 - first)]
        if exclude:
            taps = [(k, w if 0 <= k < size else 0.0) for k, w in taps]
        total = sum(w for _, w in taps) if antialias or exclude else 1.0
        for k, w in taps:
            weights[o, min(max(k, 0), size - 1)] += w / total
    return np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis), inside


def resize(x, scales=None, sizes=None, roi=None, axes=None, mode="nearest", coordinate_transformation_mode="half_pixel",
           nearest_mode="round_prefer_floor", antialias=0, exclude_outside=0, cubic_coeff_a=-0.75,
           extrapolation_value=0.0, keep_aspect_ratio_policy="stretch"):
    axes = [axis % x.ndim for axis in (range(x.ndim) if axes is None else axes)]
    extents = [x.shape[axis] for axis in axes]
    regions = [(0, 1)] * len(axes) if roi is None else list(zip(roi[: len(axes)], roi[len(axes) :]))
    if scales is not None:
        product = [np.float32(d) * (np.float32(e) - np.float32(s)) * np.float32(k)
                   for d, k, (s, e) in zip(extents, scales, regions)]
        outs, widths = [math.floor(p) for p in product], [d * k for d, k in zip(extents, scales)]
    elif keep_aspect_ratio_policy == "stretch":
        outs, widths, scales = sizes, sizes, [s / d for s, d in zip(sizes, extents)]
    else:
        choose = min if keep_aspect_ratio_policy == "not_larger" else max
        scales = [choose(s / d for s, d in zip(sizes, extents))] * len(axes)
        widths = [d * k for d, k in zip(extents, scales)]
        outs = [int(w + 0.5) for w in widths]
    y, outside = x.astype(np.float64), []
    for axis, out, scale, width, region in zip(axes, outs, scales, widths, regions):
        y, inside = resize_axis(y, axis, out, scale, width, mode, coordinate_transformation_mode, nearest_mode,
                                antialias, exclude_outside, cubic_coeff_a, region)
        outside.append((axis, np.nonzero(~inside)[0]))
    if x.dtype.kind in "iu":
        y = np.clip(np.trunc(y), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    y = y.astype(x.dtype)
    for axis, positions in outside:
        y[(slice(None),) * axis + (positions,)] = extrapolation_value
    return y


def reflect(x, low, high):
    """Mirrors x at the borders until it is between them."""
    extent = high - low
    if extent <= 0:
        return low
    beyond = low - x if x < low else x - high
    if beyond <= 0:
        return x
    times, rest = divmod(beyond, extent)
    return low + rest if (x < low) == (times % 2 == 0) else high - rest


def grid_sample(x, grid, mode, padding_mode, align_corners):
    dims = x.shape[2:]
    borders = [(0.0, d - 1.0) if align_corners else (-0.5, d - 0.5) for d in dims]
    result = np.zeros(x.shape[:2] + grid.shape[1:-1])

    def pixel(batch, position):
        inside = []
        for i, d, border in zip(position, dims, borders):
            if padding_mode == "zeros" and not 0 <= i < d:
                return np.zeros(x.shape[1])
            i = int(reflect(i, *border)) if padding_mode == "reflection" else min(max(i, 0), d - 1)
            inside.append(i)
        return x[(batch, slice(None), *inside)].astype(np.float64)

    for place in itertools.product(range(len(x)), *map(range, grid.shape[1:-1])):
        at = []
        for value, d, border in zip(map(float, grid[place][::-1]), dims, borders):
            t = (value + 1) / 2 * (d - 1) if align_corners else ((value + 1) * d - 1) / 2
            if mode == "nearest":
                t = math.copysign(math.floor(abs(t) + 0.5), t) if len(dims) == 3 else float(np.rint(t))
            if not border[0] <= t <= border[1]:
                t = {"zeros": t, "border": min(max(t, 0), d - 1), "reflection": reflect(t, *border)}[padding_mode]
            at.append(t)
        target = (place[0], slice(None), *place[1:])
        if mode == "nearest":
            result[target] = pixel(place[0], [int(t) for t in at])
            continue
        reach = range(-1, 3) if mode == "cubic" else range(2)
        for step in itertools.product(reach, repeat=len(dims)):
            left = [math.floor(t) for t in at]
            weight = math.prod(kernel(s - (t - f), mode == "cubic", -0.75) for s, t, f in zip(step, at, left))
            result[target] += weight * pixel(place[0], [f + s for f, s in zip(left, step)])
    return result.astype(x.dtype)


def affine_grid(theta, size, align_corners):
    steps = [np.linspace(-1, 1, d) if align_corners else (2 * np.arange(d) + 1) / d - 1 for d in size[2:]]
    points = np.stack([*np.meshgrid(*steps, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("nij,...j->n...i", theta.astype(np.float64), points).astype(theta.dtype)


def tf_idf(x, mode, shortest, longest, skips, starts, columns, pool, weights):
    rows = x.reshape(-1, x.shape[-1])
    counts, numbers = np.zeros((len(rows), max(columns) + 1), np.float32), {}
    for index, start in enumerate(starts):
        end, length = (starts + [len(pool)])[index + 1], index + 1
        for k in range(start, end - length + 1, length):
            numbers[tuple(pool[k : k + length])] = len(numbers)
    for row, length in itertools.product(range(len(rows)), range(shortest, longest + 1)):
        for distance in range(1, 2 if length == 1 else skips + 2):
            for start in range(len(rows[row]) - distance * (length - 1)):
                ngram = tuple(rows[row][start : start + distance * (length - 1) + 1 : distance].tolist())
                if ngram in numbers:
                    counts[row, columns[numbers[ngram]]] += 1
    factors = np.ones(max(columns) + 1, np.float32)
    factors[columns] = weights
    if mode != "TF":
        counts = np.where(counts > 0, factors, 0) if mode == "IDF" else counts * factors
    return counts.astype(np.float32).reshape(x.shape[:-1] + (-1,))


def center_crop_pad(x, shape, axes):
    sizes, source, target = list(x.shape), [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, size in zip(axes, shape):
        less, more = max(x.shape[axis] - size, 0) // 2, max(size - x.shape[axis], 0) // 2
        count = min(size, x.shape[axis])
        sizes[axis], source[axis], target[axis] = size, slice(less, less + count), slice(more, more + count)
    result = np.zeros(sizes, x.dtype)
    result[tuple(target)] = x[tuple(source)]
    return result
