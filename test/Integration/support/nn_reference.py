"""Plain reference loops in 64 bits for convolutions, poolings, attention and their kin."""

import itertools

import numpy as np


def places(sizes):
    return itertools.product(*map(range, sizes))


def conv(x, w, bias=None, strides=None, dilations=None, pads=None, group=1, auto_pad="NOTSET"):
    rank, kernel = x.ndim - 2, w.shape[2:]
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, list(pads or [0] * 2 * rank)
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if auto_pad.startswith("SAME"):
        for i, size in enumerate(x.shape[2:]):
            total = max(0, (-(-size // strides[i]) - 1) * strides[i] + extent[i] - size)
            pads[i] = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            pads[rank + i] = total - pads[i]
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    out = [(size - extent[i]) // strides[i] + 1 for i, size in enumerate(padded.shape[2:])]
    y = np.zeros([x.shape[0], w.shape[0]] + out)
    for m in range(w.shape[0]):
        first = m // (w.shape[0] // group) * w.shape[1]
        for k in places(kernel):
            window = tuple(slice(k[i] * dilations[i], k[i] * dilations[i] + (out[i] - 1) * strides[i] + 1, strides[i])
                           for i in range(rank))
            part = padded[(slice(None), slice(first, first + w.shape[1])) + window]
            y[:, m] += np.einsum("nc...,c->n...", part, w[(m, slice(None)) + k].astype(np.float64))
    return (y if bias is None else y + bias.reshape([-1] + [1] * rank)).astype(x.dtype)


def conv_transpose(x, w, bias, strides, dilations, group, pads, output_padding):
    rank, channels = x.ndim - 2, w.shape[1]
    full = [strides[i] * (x.shape[2 + i] - 1) + (w.shape[2 + i] - 1) * dilations[i] + 1 + output_padding[i]
            for i in range(rank)]
    y = np.zeros([x.shape[0], channels * group] + full)
    for c in range(x.shape[1]):
        first = c // (x.shape[1] // group) * channels
        for k in places(w.shape[2:]):
            spots = tuple(slice(k[i] * dilations[i], k[i] * dilations[i] + (x.shape[2 + i] - 1) * strides[i] + 1, strides[i])
                          for i in range(rank))
            y[(slice(None), slice(first, first + channels)) + spots] += np.einsum(
                "n...,m->nm...", x[:, c].astype(np.float64), w[(c, slice(None)) + k])
    y = y[(slice(None), slice(None)) + tuple(slice(pads[i], full[i] - pads[rank + i]) for i in range(rank))]
    return (y if bias is None else y + bias.reshape([-1] + [1] * rank)).astype(x.dtype)


def pool(x, kernel_shape, strides, dilations, pads, ceil_mode, mode, include=False, p=2):
    """The pooled tensor, and for maxima their places."""
    rank, sizes, out = x.ndim - 2, x.shape[2:], []
    for i in range(rank):
        room = sizes[i] + pads[i] + pads[rank + i] - (kernel_shape[i] - 1) * dilations[i] - 1
        count = min(-(-room // strides[i]) + 1, -(-(sizes[i] + pads[i]) // strides[i])) if ceil_mode else room // strides[i] + 1
        out.append(count)
    y, indices = np.zeros(list(x.shape[:2]) + out), np.zeros(list(x.shape[:2]) + out, np.int64)
    for place in np.ndindex(*y.shape):
        values, spots, count = [], [], 0
        for k in places(kernel_shape):
            at = [place[2 + i] * strides[i] + k[i] * dilations[i] - pads[i] for i in range(rank)]
            if all(0 <= a < size for a, size in zip(at, sizes)):
                values.append(float(x[place[:2] + tuple(at)]))
                spots.append(np.ravel_multi_index(place[:2] + tuple(at), x.shape))
            count += all(-pads[i] <= at[i] < sizes[i] + pads[rank + i] for i in range(rank))
        if mode == "max":
            y[place], indices[place] = max(values), spots[int(np.argmax(values))]
        elif mode == "average":
            y[place] = sum(values) / (count if include else len(values))
        else:
            y[place] = sum(abs(v) ** p for v in values) ** (1 / p)
    return y.astype(x.dtype), indices


def deform_conv(x, w, offset, bias, mask, pads, group, offset_group):
    channels, (kh, kw) = w.shape[1], w.shape[2:]
    y = np.zeros((x.shape[0], w.shape[0]) + offset.shape[2:])

    def sample(image, row, column):
        total, top, left = 0.0, int(np.floor(row)), int(np.floor(column))
        for a, b in itertools.product((top, top + 1), (left, left + 1)):
            if 0 <= a < image.shape[0] and 0 <= b < image.shape[1]:
                total += image[a, b] * (1 - abs(row - a)) * (1 - abs(column - b))
        return total

    for n, m, i, j in np.ndindex(*y.shape):
        y[n, m, i, j] = 0 if bias is None else bias[m]
        for c, p, q in places((channels, kh, kw)):
            channel = m // (w.shape[0] // group) * channels + c
            row = channel // (x.shape[1] // offset_group) * kh * kw + p * kw + q
            moved = sample(x[n, channel], i + p - pads[0] + offset[n, 2 * row, i, j],
                           j + q - pads[1] + offset[n, 2 * row + 1, i, j])
            y[n, m, i, j] += w[m, c, p, q] * moved * (1 if mask is None else mask[n, row, i, j])
    return y.astype(x.dtype)


def col2im(x, image, block, strides, dilations, pads):
    rank = len(image)
    full = [image[i] + pads[i] + pads[rank + i] for i in range(rank)]
    count = [(full[i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    blocks = x.reshape([x.shape[0], -1, *block, *count])
    y = np.zeros([x.shape[0], blocks.shape[1]] + full)
    for k, at in itertools.product(places(block), places(count)):
        y[(slice(None), slice(None)) + tuple(at[i] * strides[i] + k[i] * dilations[i] for i in range(rank))] += blocks[
            (slice(None), slice(None)) + k + at]
    return y[(slice(None), slice(None)) + tuple(slice(pads[i], pads[i] + image[i]) for i in range(rank))].astype(x.dtype)


def max_roi_pool(x, rois, pooled, scale):
    y = np.zeros((len(rois), x.shape[1]) + tuple(pooled), x.dtype)
    for r, roi in enumerate(rois):
        bounds = []
        for axis, (low, high) in enumerate(((2, 4), (1, 3))):
            first, last = (int(np.copysign(np.floor(abs(roi[c] * scale) + 0.5), roi[c])) for c in (low, high))
            step = np.float32(max(last - first + 1, 1)) / np.float32(pooled[axis])
            bounds.append([tuple(min(max(int(v) + first, 0), x.shape[2 + axis]) for v in
                                 (np.floor(np.float32(p) * step), np.ceil(np.float32(p + 1) * step))) for p in range(pooled[axis])])
        for i, j in places(pooled):
            (top, bottom), (left, right) = bounds[0][i], bounds[1][j]
            if bottom > top and right > left:
                y[r, :, i, j] = x[int(roi[0]), :, top:bottom, left:right].max((1, 2))
    return y


def attention(q, k, v, mask=None, causal=False, past=None, scale=None, softcap=0):
    """The result, the keys and values with the past, and the scores after every step."""
    before = past[0].shape[2] if past else 0
    if past:
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    share = q.shape[1] // k.shape[1]
    keys, values = (np.repeat(t, share, 1).astype(np.float64) for t in (k, v))
    scores = [np.einsum("bhqd,bhkd->bhqk", q.astype(np.float64), keys) * (scale or 1 / np.sqrt(q.shape[-1]))]
    scores.append(softcap * np.tanh(scores[0] / softcap) if softcap else scores[0])
    masked = scores[1]
    if mask is not None:
        masked = np.where(mask, masked, -np.inf) if mask.dtype == bool else masked + mask
    if causal:
        last = np.arange(masked.shape[2])[:, None] + before
        masked = np.where(np.arange(masked.shape[3])[None] <= last, masked, -np.inf)
    power = np.exp(masked - masked.max(-1, keepdims=True))
    scores += [masked, power / power.sum(-1, keepdims=True)]
    return np.einsum("bhqk,bhkd->bhqd", scores[3], values).astype(q.dtype), k, v, scores


def rotate(x, cosine, sine, interleaved, count):
    turned, rest = x[..., :count], x[..., count:]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else np.split(turned, 2, -1)
    pair = a * cosine - b * sine, a * sine + b * cosine
    turned = np.stack(pair, -1).reshape(turned.shape) if interleaved else np.concatenate(pair, -1)
    return np.concatenate([turned, rest], -1).astype(x.dtype)


def group_norm(x, groups, scale, bias, epsilon=1e-5):
    rows = x.reshape(x.shape[0], groups, -1).astype(np.float64)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + epsilon)
    shape = [-1] + [1] * (x.ndim - 2)
    return (rows.reshape(x.shape) * scale.reshape(shape) + bias.reshape(shape)).astype(x.dtype)


def lrn(x, size, alpha, beta=0.75, bias=1.0):
    total = np.zeros(x.shape)
    for c in range(x.shape[1]):
        total[:, c] = (x[:, max(0, c - (size - 1) // 2):c - (1 - size) // 2 + 1].astype(np.float64) ** 2).sum(1)
    return (x / (bias + alpha / size * total) ** beta).astype(x.dtype)
