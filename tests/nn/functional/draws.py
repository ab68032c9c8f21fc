"""Functions of networks drawn over their arguments: the rows of the comparison with torch.

Mirrors: torch/testing/_internal/common_methods_invocations.py

A row draws the name of a function, its positional and its keyword arguments. Tensors are written as ``T(shape, kind)``
(tests/nn/modules/draws.py). Some draws are wrong on purpose: both libraries must raise the same error then.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from tests.nn.modules.draws import T, shape
from tests.nn.modules.draws_of_shapes import numbers

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
Row = Callable[[random.Random], Call]


def images(rng: random.Random, ndim: int, channels: int | None = None, low: int = 2, high: int = 7) -> T:
    channels = rng.randint(1, 3) if channels is None else channels
    batch = rng.choice(((2,), (1,), ()))
    return T((*batch, channels, *(rng.randint(low, high) for _ in range(ndim))))


def convolution(rng: random.Random) -> Call:
    ndim, groups = rng.randint(1, 3), rng.choice((1, 1, 2, 3))
    inner, outer = groups * rng.randint(1, 2), groups * rng.randint(1, 2)
    transposed = rng.random() < 0.4
    window = tuple(rng.randint(1, 3) for _ in range(ndim))
    weight = T((inner, outer // groups, *window) if transposed else (outer, inner // groups, *window))
    bias = T((outer,)) if rng.random() < 0.6 else None
    kwargs = {
        "stride": numbers(rng, ndim, 1, 3),
        "padding": numbers(rng, ndim, 0, 2),
        "dilation": numbers(rng, ndim, 1, 2),
        "groups": groups,
    }
    if transposed:
        kwargs["output_padding"] = numbers(rng, ndim, 0, 1)
    elif rng.random() < 0.2:
        kwargs["padding"] = rng.choice(("same", "valid", "other"))
    for name, wrong in (("stride", 0), ("dilation", 0), ("padding", -1)):
        if rng.random() < 0.03:
            kwargs[name] = wrong
    x = images(rng, ndim, inner + (rng.random() < 0.05))
    return f"conv{'_transpose' if transposed else ''}{ndim}d", (x, weight, bias), kwargs


def max_pool(rng: random.Random) -> Call:
    ndim = rng.randint(1, 3)
    kwargs = {
        "stride": rng.choice((None, numbers(rng, ndim, 1, 3))),
        "padding": numbers(rng, ndim, 0, 1),
        "dilation": numbers(rng, ndim, 1, 2),
        "ceil_mode": rng.random() < 0.4,
        "return_indices": rng.random() < 0.4,
    }
    return f"max_pool{ndim}d", (images(rng, ndim), numbers(rng, ndim, 1, 3)), kwargs


def avg_pool(rng: random.Random) -> Call:
    ndim = rng.randint(1, 3)
    kwargs: dict[str, Any] = {
        "stride": rng.choice((None, numbers(rng, ndim, 1, 3))),
        "padding": numbers(rng, ndim, 0, 1),
        "ceil_mode": rng.random() < 0.4,
        "count_include_pad": rng.random() < 0.5,
    }
    if ndim > 1 and rng.random() < 0.3:
        kwargs["divisor_override"] = rng.choice((1, 3, -2, 0))
    return f"avg_pool{ndim}d", (images(rng, ndim), numbers(rng, ndim, 1, 3)), kwargs


def lp_pool(rng: random.Random) -> Call:
    ndim = rng.randint(1, 3)
    window = rng.randint(1, 3) if ndim == 1 else numbers(rng, ndim, 1, 3)  # torch multiplies by it where ndim is 1
    kwargs = {"stride": rng.choice((None, numbers(rng, ndim, 1, 3))), "ceil_mode": rng.random() < 0.4}
    return f"lp_pool{ndim}d", (images(rng, ndim, low=3), rng.choice((1.0, 2.0, 3.0)), window), kwargs


def adaptive_pool(rng: random.Random) -> Call:
    ndim = rng.randint(1, 3)
    size = rng.choice((rng.randint(1, 5), tuple(rng.randint(1, 4) for _ in range(ndim))))
    if rng.random() < 0.5:
        return f"adaptive_avg_pool{ndim}d", (images(rng, ndim), size), {}
    return f"adaptive_max_pool{ndim}d", (images(rng, ndim), size), {"return_indices": rng.random() < 0.4}


def fractional_pool(rng: random.Random) -> Call:
    ndim = rng.randint(2, 3)
    x = images(rng, ndim, low=4)
    sizes: dict[str, Any] = rng.choice(
        (
            {"output_size": numbers(rng, ndim, 1, 4)},
            {"output_ratio": tuple(rng.choice((0.5, 0.7)) for _ in range(ndim))},
        )
    )
    batch = x.shape[0] if len(x.shape) == ndim + 2 else 1
    samples = T((batch, x.shape[-ndim - 1], ndim), "unit")
    kwargs = {**sizes, "_random_samples": samples, "return_indices": rng.random() < 0.5}
    return f"fractional_max_pool{ndim}d", (x, numbers(rng, ndim, 1, 3)), kwargs


def pad(rng: random.Random) -> Call:
    ndim = rng.randint(1, 3)
    mode = rng.choice(("constant", "reflect", "replicate", "circular"))
    pairs = rng.randint(1, ndim + 1) if mode == "constant" else ndim
    low = 0 if mode == "circular" else -1
    sides = [rng.randint(low, 3) for _ in range(2 * pairs - (rng.random() < 0.05))]
    return "pad", (images(rng, ndim, high=5), sides), {"mode": mode}


MODES = {
    1: ("nearest", "linear", "area", "nearest-exact"),
    2: ("nearest", "bilinear", "bicubic", "area", "nearest-exact", "bilinear", "bicubic"),
    3: ("nearest", "trilinear", "area", "nearest-exact"),
}


def interpolate(rng: random.Random) -> Call:
    """No side becomes one pixel: where the width does, torch's antialiasing repeats the first row in every row."""
    ndim = rng.randint(1, 3)
    kwargs: dict[str, Any] = {"mode": rng.choice(MODES[ndim])}
    if rng.random() < 0.5:
        kwargs["size"] = numbers(rng, ndim, 2, 9)
    else:
        kwargs["scale_factor"] = rng.choice((0.6, 1.7, 2, tuple(rng.choice((0.7, 1.5)) for _ in range(ndim))))
        kwargs["recompute_scale_factor"] = rng.choice((None, True))
    if rng.random() < 0.5:
        kwargs["align_corners"] = rng.random() < 0.5
    kwargs["antialias"] = rng.random() < 0.3
    return "interpolate", (images(rng, ndim, low=4),), kwargs


def grid_sample(rng: random.Random) -> Call:
    ndim = rng.randint(2, 3)
    x = T((2, rng.randint(1, 3), *(rng.randint(2, 5) for _ in range(ndim))))
    grid = T((2, *(rng.randint(1, 4) for _ in range(ndim)), ndim))
    kwargs = {
        "mode": rng.choice(("bilinear", "nearest", "bicubic")),
        "padding_mode": rng.choice(("zeros", "border", "reflection")),
        "align_corners": rng.choice((True, False)),
    }
    return "grid_sample", (x, grid), kwargs


def affine_grid(rng: random.Random) -> Call:
    ndim, n = rng.randint(2, 3), rng.randint(1, 3)
    size = [n, rng.randint(1, 3), *(rng.randint(1, 4) for _ in range(ndim))]
    return "affine_grid", (T((n, ndim, ndim + 1)), size), {"align_corners": rng.random() < 0.5}


def attention(rng: random.Random) -> Call:
    batch, (long, keys, width, values) = shape(rng, 0, 2), (rng.randint(1, 4) for _ in range(4))
    kwargs: dict[str, Any] = {"is_causal": rng.random() < 0.3, "scale": rng.choice((None, 0.5))}
    if rng.random() < 0.4:
        kwargs["attn_mask"] = rng.choice((T((long, keys)), T((*batch, long, keys))))
    inputs = T((*batch, long, width)), T((*batch, keys, width)), T((*batch, keys, values))
    return "scaled_dot_product_attention", inputs, kwargs


def distance(rng: random.Random) -> Call:
    s = shape(rng, 1, 3)
    other = rng.choice((s, s, s[-1:], (1,)))
    return rng.choice(
        (
            ("cosine_similarity", (T(s), T(other)), {"dim": rng.randint(-len(s), len(s))}),
            (
                "pairwise_distance",
                (T(s), T(other)),
                {"p": rng.choice((1.0, 2.0, math.inf)), "keepdim": rng.random() < 0.5},
            ),
            ("normalize", (T(s),), {"p": rng.choice((1.0, 2.0, 3.0)), "dim": rng.randint(-len(s), len(s))}),
            ("pdist", (T((rng.randint(2, 4), rng.randint(1, 3))),), {"p": rng.choice((1.0, 2.0, math.inf, -1.0))}),
        )
    )


def one_hot(rng: random.Random) -> Call:
    return "one_hot", (T(shape(rng, 0, 3), "class", 4), rng.choice((-1, 4, 6, 2, 0))), {}


def table(rng: random.Random) -> Call:
    n, d = rng.randint(1, 6), rng.randint(1, 4)
    kwargs = {"padding_idx": rng.choice((None, 0, -1, n)), "norm_type": rng.choice((1.0, 2.0))}
    return "embedding", (T(shape(rng, 0, 3), "class", n), T((n, d))), kwargs


def bags(rng: random.Random) -> Call:
    """Rows of a table, divided into bags by offsets."""
    n, count = rng.randint(1, 6), rng.randint(1, 6)
    offsets = [0, *sorted(rng.randint(0, count) for _ in range(rng.randint(0, 3)))]
    kwargs: dict[str, Any] = {"mode": rng.choice(("sum", "mean", "max")), "padding_idx": rng.choice((None, None, 0))}
    if rng.random() < 0.3:
        kwargs["include_last_offset"] = True
        offsets.append(count)
    if rng.random() < 0.3:
        kwargs["per_sample_weights"] = T((count,))
    return "embedding_bag", (T((count,), "class", n), T((n, rng.randint(1, 4))), ("offsets", offsets)), kwargs


def soft(rng: random.Random) -> Call:
    s = shape(rng, 0, 3)
    name = rng.choice(("softmax", "log_softmax", "softmin", "glu"))
    return name, (T(s),), {"dim": rng.randint(-3, 2)}


def maps(rng: random.Random) -> Call:
    i, o, s = rng.randint(1, 4), rng.randint(1, 4), shape(rng, 0, 3)
    if rng.random() < 0.3:
        j = rng.randint(1, 3)
        return "bilinear", (T((*s, i)), T((*s, j)), T((o, i, j)), rng.choice((None, T((o,))))), {}
    weight = rng.choice((T((o, i)), T((i,))))
    bias = None if len(weight.shape) == 1 else rng.choice((None, T((o,)), T((1,))))
    return "linear", (T((*s, i + (rng.random() < 0.05))), weight, bias), {}


ROWS: dict[str, Row] = {
    row.__name__: row
    for row in (
        convolution, max_pool, avg_pool, lp_pool, adaptive_pool, fractional_pool, pad, interpolate, grid_sample,
        affine_grid, attention, distance, one_hot, table, bags, soft, maps,
    )
}  # fmt: skip
