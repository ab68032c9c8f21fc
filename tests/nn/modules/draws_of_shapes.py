"""Layers of images and sequences, norms, tables and cells drawn over their arguments: more rows of the comparison.

Mirrors: torch/testing/_internal/common_modules.py
"""

from __future__ import annotations

import random
from typing import Any

from tests.nn.modules.draws import REDUCTIONS, Draw, Row, T


def numbers(rng: random.Random, ndim: int, low: int, high: int) -> Any:
    return rng.choice((rng.randint(low, high), tuple(rng.randint(low, high) for _ in range(ndim))))


def images(rng: random.Random, ndim: int, channels: int, low: int = 2, high: int = 6) -> T:
    """Mostly with a batch, now and then without, and now and then with too few dimensions."""
    batch = rng.choice(((2,), (2,), (3,), ()))
    sizes = tuple(rng.randint(low, high) for _ in range(ndim - (rng.random() < 0.05)))
    return T((*batch, channels, *sizes))


def norm(ndim: int, affine: bool) -> Row:
    """Batch norm (affine by default) or instance norm of 1 to 3 dimensions."""

    def draw(rng: random.Random) -> Draw:
        c = rng.randint(1, 4)
        kwargs: dict[str, Any] = {"eps": rng.choice((1e-5, 0.1)), "momentum": rng.choice((0.1, 1.0, 0.0))}
        if affine and rng.random() < 0.2:
            kwargs["momentum"] = None
        kwargs |= {"affine": rng.random() < 0.6, "track_running_stats": rng.random() < 0.6}
        return Draw((c,), kwargs, (images(rng, ndim, c + (rng.random() < 0.05)),))

    return draw


def group_norm(rng: random.Random) -> Draw:
    g = rng.randint(1, 3)
    c = g * rng.randint(1, 3)
    # torch's backward of a bias without a weight raises an error, so that both are there or none.
    kwargs = {"affine": rng.random() < 0.6, "eps": rng.choice((1e-5, 0.1))}
    return Draw((g, c), kwargs, (images(rng, rng.randint(1, 3), c),))


def layer_norm(has_bias: bool) -> Row:
    def draw(rng: random.Random) -> Draw:
        s = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 4)))
        normalized = list(s[-rng.randint(1, len(s)) :])
        kwargs: dict[str, Any] = {"eps": rng.choice((1e-5, 0.1)), "elementwise_affine": rng.random() < 0.6}
        if has_bias:
            kwargs["bias"] = rng.random() < 0.6
        return Draw((normalized,), kwargs, (T(s),))

    return draw


def local_response(rng: random.Random) -> Draw:
    kwargs = {"alpha": rng.choice((1e-4, 0.5)), "beta": rng.choice((0.75, 0.5)), "k": rng.choice((1.0, 2.0))}
    return Draw((rng.randint(1, 4),), kwargs, (T((2, rng.randint(1, 5), *(3,) * rng.randint(1, 3))),))


def embedding(rng: random.Random) -> Draw:
    n, d = rng.randint(2, 6), rng.randint(1, 4)
    kwargs: dict[str, Any] = {"padding_idx": rng.choice((None, 0, -1, n)), "max_norm": rng.choice((None, None, 1.0))}
    places = tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))
    return Draw((n, d), kwargs, (T(places, "class", n),))


def embedding_bag(rng: random.Random) -> Draw:
    n, d = rng.randint(2, 6), rng.randint(1, 4)
    kwargs = {"mode": rng.choice(("sum", "mean", "max")), "padding_idx": rng.choice((None, None, 0))}
    return Draw((n, d), kwargs, (T((rng.randint(1, 3), rng.randint(1, 4)), "class", n),))


def windows(rng: random.Random) -> dict[str, Any]:
    return {
        "dilation": numbers(rng, 2, 1, 2),
        "padding": numbers(rng, 2, 0, 2),
        "stride": numbers(rng, 2, 1, 3),
    }


def unfold(rng: random.Random) -> Draw:
    return Draw((numbers(rng, 2, 1, 3),), windows(rng), (images(rng, 2, rng.randint(1, 2), 3, 6),))


def fold(rng: random.Random) -> Draw:
    """The number of columns fits, or now and then is one too large."""
    kwargs, kernel = windows(rng), (rng.randint(1, 3), rng.randint(1, 3))
    size = (rng.randint(5, 8), rng.randint(5, 8))
    columns = 1
    for i in range(2):
        d, p, s = (v[i] if isinstance(v, tuple) else v for v in kwargs.values())
        columns *= (size[i] + 2 * p - d * (kernel[i] - 1) - 1) // s + 1
    batch = rng.choice(((2,), ()))
    channels = rng.randint(1, 2) * kernel[0] * kernel[1]
    return Draw((size, kernel), kwargs, (T((*batch, channels, columns + (rng.random() < 0.1))),))


MODES = {1: ("nearest", "linear", "area"), 2: ("nearest", "bilinear", "bicubic"), 3: ("nearest", "trilinear")}


def upsample(rng: random.Random) -> Draw:
    ndim = rng.randint(1, 3)
    kwargs: dict[str, Any] = {"mode": rng.choice(MODES[ndim])}
    if rng.random() < 0.5:
        kwargs["size"] = numbers(rng, ndim, 1, 7)
    else:
        kwargs["scale_factor"] = rng.choice((0.5, 1.7, 2, tuple(rng.choice((0.6, 1.5)) for _ in range(ndim))))
    if rng.random() < 0.4:
        kwargs["align_corners"] = rng.random() < 0.7
    return Draw((), kwargs, (T((2, rng.randint(1, 2), *(rng.randint(2, 5) for _ in range(ndim)))),))


def upsample_2d(rng: random.Random) -> Draw:
    choice: dict[str, Any] = rng.choice(({"size": numbers(rng, 2, 1, 7)}, {"scale_factor": rng.choice((0.5, 2, 1.5))}))
    return Draw((), choice, (T((2, 2, rng.randint(2, 5), rng.randint(2, 5))),))


def binary(rng: random.Random) -> Draw:
    s = tuple(rng.randint(1, 4) for _ in range(rng.randint(0, 3)))
    kwargs: dict[str, Any] = {"reduction": rng.choice(REDUCTIONS)}
    if rng.random() < 0.4:
        kwargs["weight"] = T(s, "unit")
    return Draw((), kwargs, (T(s, "unit"), T(s if rng.random() < 0.85 else (9,), "unit")))


def nll(rng: random.Random) -> Draw:
    n, c, rest = rng.randint(1, 4), rng.randint(1, 5), tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))
    kwargs: dict[str, Any] = {"reduction": rng.choice(REDUCTIONS), "ignore_index": rng.choice((-100, 0))}
    if rng.random() < 0.5:
        kwargs["weight"] = T((c + (rng.random() < 0.1),), "unit")
    return Draw((), kwargs, (T((n, c, *rest)), T((n, *rest), "class", c)))


def ctc(rng: random.Random) -> Draw:
    """The blank is the last label, and no target has it."""
    steps, n, c, s = rng.randint(3, 6), rng.randint(1, 3), rng.randint(2, 4), rng.randint(1, 3)
    kwargs = {"blank": c - 1, "reduction": rng.choice(REDUCTIONS), "zero_infinity": rng.random() < 0.5}
    lengths = tuple(rng.randint(3, steps) for _ in range(n)), tuple(rng.randint(0, s) for _ in range(n))
    return Draw((), kwargs, (T((steps, n, c)), T((n, s), "class", c - 1), *lengths))


def flatten(rng: random.Random) -> Draw:
    s = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 4)))
    return Draw((rng.randint(-len(s), len(s)), rng.randint(-len(s), len(s))), {}, (T(s),))


def unflatten(rng: random.Random) -> Draw:
    a, b = rng.randint(1, 3), rng.randint(1, 3)
    sizes = rng.choice(((a, b), (a, -1), (a, b, 1), (a + 1, b)))
    return Draw((rng.choice((1, -2)), sizes), {}, (T((2, a * b, 3)),))


def cell(states: int) -> Row:
    def draw(rng: random.Random) -> Draw:
        i, h = rng.randint(1, 4), rng.randint(1, 4)
        kwargs: dict[str, Any] = {"bias": rng.random() < 0.7}
        if states == 0:
            kwargs["nonlinearity"] = rng.choice(("tanh", "relu"))
        batch = rng.choice(((2,), (3,), ()))
        inputs = [T((*batch, i + (rng.random() < 0.05)))]
        if states < 2 and rng.random() < 0.6:
            inputs.append(T((*batch, h + (rng.random() < 0.05))))
        return Draw((i, h), kwargs, tuple(inputs))

    return draw


ROWS: dict[str, Row] = {
    **{f"BatchNorm{n}d": norm(n, affine=True) for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": norm(n, affine=False) for n in (1, 2, 3)},
    "GroupNorm": group_norm,
    "LayerNorm": layer_norm(has_bias=True),
    "RMSNorm": layer_norm(has_bias=False),
    "LocalResponseNorm": local_response,
    "Embedding": embedding,
    "EmbeddingBag": embedding_bag,
    "Unfold": unfold,
    "Fold": fold,
    "Upsample": upsample,
    "UpsamplingNearest2d": upsample_2d,
    "UpsamplingBilinear2d": upsample_2d,
    "BCELoss": binary,
    "NLLLoss": nll,
    "CTCLoss": ctc,
    "Flatten": flatten,
    "Unflatten": unflatten,
    "RNNCell": cell(0),
    "GRUCell": cell(1),
}
