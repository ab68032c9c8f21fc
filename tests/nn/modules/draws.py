"""Modules drawn over their arguments: the rows of the comparison with torch.

Mirrors: torch/testing/_internal/common_modules.py

Each row is the name of a class and a function that draws, from a ``random.Random``, the arguments of the class and the
inputs of a call. A tensor is written as ``T(shape, kind)``, so that each library makes the same one. Some draws are
wrong on purpose: both libraries must raise the same error then.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class T:
    """A tensor to be made.

    The kind is ``normal`` (such an input requires a gradient), ``unit`` (from 0 to 1), ``sign`` (1 or -1), ``bit``
    (0 or 1), ``class`` (below n) or ``labels`` (from -1 to n).
    """

    shape: tuple[int, ...]
    kind: str = "normal"
    n: int = 0
    dtype: str = "float64"

    def make(self, lib: Any, seed: int) -> Any:
        rng, size = random.Random(seed), 1
        for s in self.shape:
            size *= s
        draw: dict[str, Callable[[], float]] = {
            "normal": lambda: rng.gauss(0, 1.5),
            "unit": lambda: rng.uniform(0.05, 0.95),
            "sign": lambda: rng.choice((-1, 1)),
            "bit": lambda: rng.choice((0, 1)),
            "class": lambda: rng.randrange(self.n),
            "labels": lambda: rng.randrange(-1, self.n),
        }
        dtype = "int64" if self.kind in ("class", "labels") else self.dtype
        values = [draw[self.kind]() for _ in range(size)]
        return lib.tensor(values, dtype=getattr(lib, dtype)).reshape(self.shape)


@dataclass
class Draw:
    """One drawn case: the arguments of the class and the inputs of the call."""

    args: tuple
    kwargs: dict[str, Any]
    inputs: tuple


Row = Callable[[random.Random], Draw]
REDUCTIONS = ("none", "mean", "sum")


def shape(rng: random.Random, low: int = 0, high: int = 4) -> tuple[int, ...]:
    return tuple(rng.randint(1, 5) for _ in range(rng.randint(low, high)))


def pointwise(*options: Callable[[random.Random], dict[str, Any]]) -> Row:
    def draw(rng: random.Random) -> Draw:
        kwargs = rng.choice(options)(rng) if options else {}
        return Draw((), kwargs, (T(shape(rng)),))

    return draw


def inplace(rng: random.Random) -> dict[str, Any]:
    return {"inplace": rng.random() < 0.3}


def dims(rng: random.Random) -> Draw:
    s = shape(rng, 0, 4)
    return Draw((), {"dim": rng.randint(-len(s) - 1, len(s))}, (T(s),))


def dropout(low: int, high: int) -> Row:
    def draw(rng: random.Random) -> Draw:
        p = rng.choice((0.0, 0.3, 0.5, 1.0, 1.5))
        return Draw((p,), {}, (T(shape(rng, low, high)),))

    return draw


def padding(ndim: int, value: bool = False, low: int = -1) -> Row:
    def draw(rng: random.Random) -> Draw:
        sides = [rng.randint(low, 3) for _ in range(2 * ndim)]
        pad = rng.choice((rng.randint(0, 2), tuple(sides), sides))
        extra = {"value": rng.choice((0.5, 0, -2))} if value else {}
        rank = ndim + rng.choice((1, 1, 2, 2, 0))
        return Draw((pad,), extra, (T(tuple(rng.randint(2, 5) for _ in range(rank))),))

    return draw


def losses(kind: str, more: Callable[[random.Random], dict[str, Any]] = lambda rng: {}, low: int = 0) -> Row:
    """Losses of an input and a target of the same shape, or now and then of another one."""

    def draw(rng: random.Random) -> Draw:
        s = shape(rng, low, 3)
        other = s if rng.random() < 0.85 else shape(rng, low, 3)
        return Draw((), {"reduction": rng.choice(REDUCTIONS), **more(rng)}, (T(s), T(other, kind)))

    return draw


def margin(rng: random.Random) -> dict[str, Any]:
    return {"margin": rng.choice((0.0, 0.5, 1.0))}


def multi_margin(rng: random.Random) -> Draw:
    n, c = rng.randint(1, 4), rng.randint(1, 5)
    kwargs = {"p": rng.choice((1, 2, 2, 3)), "reduction": rng.choice(REDUCTIONS), **margin(rng)}
    if rng.random() < 0.5:
        kwargs["weight"] = T(rng.choice(((c,), (c,), (1, c))), "unit")
    if rng.random() < 0.3:
        return Draw((), kwargs, (T((c,)), T((), "class", c)))
    return Draw((), kwargs, (T((n, c)), T((n,), "class", c)))


def multilabel_margin(rng: random.Random) -> Draw:
    s = (rng.randint(1, 4), rng.randint(1, 5)) if rng.random() < 0.7 else (rng.randint(1, 5),)
    return Draw((), {"reduction": rng.choice(REDUCTIONS)}, (T(s), T(s, "labels", s[-1])))


def multilabel_soft(rng: random.Random) -> Draw:
    s = (rng.randint(1, 4), rng.randint(1, 5))
    kwargs = {"reduction": rng.choice(REDUCTIONS)}
    if rng.random() < 0.5:
        kwargs["weight"] = T((s[-1],), "unit")
    return Draw((), kwargs, (T(s), T(s, "bit")))


def cosine_embedding(rng: random.Random) -> Draw:
    n, d = rng.randint(1, 4), rng.randint(1, 5)
    s = (n, d) if rng.random() < 0.7 else (d,)
    target = rng.choice((s[:-1], s[:-1], s[:-1], (n, d)))
    kwargs = {"reduction": rng.choice(REDUCTIONS), "margin": rng.choice((0.0, -0.5, 0.3))}
    return Draw((), kwargs, (T(s), T(s), T(target, "sign")))


def ranking(rng: random.Random) -> Draw:
    s = shape(rng, 0, 2)
    return Draw((), {"reduction": rng.choice(REDUCTIONS), **margin(rng)}, (T(s), T(s), T(s, "sign")))


def triplet(rng: random.Random) -> Draw:
    s = shape(rng, 1, 3)
    kwargs = {"reduction": rng.choice(REDUCTIONS), "swap": rng.random() < 0.5, "margin": rng.choice((0.5, 1.0, 1.0, 0))}
    return Draw((), {**kwargs, "p": rng.choice((1.0, 2.0, 3.0))}, (T(s), T(s), T(s)))


def triplet_with_distance(rng: random.Random) -> Draw:
    draw = triplet(rng)
    del draw.kwargs["p"]
    return draw


def gaussian(rng: random.Random) -> Draw:
    s = shape(rng, 1, 3)
    var = rng.choice((T(s, "unit"), T((*s[:-1], 1), "unit"), T(s[:-1], "unit"), 0.5, T((9, *s), "unit")))
    kwargs = {"reduction": rng.choice(REDUCTIONS), "full": rng.random() < 0.5}
    return Draw((), kwargs, (T(s), T(s), var))


def poisson(rng: random.Random) -> Draw:
    log_input, s = rng.random() < 0.5, shape(rng)
    kwargs = {"log_input": log_input, "full": rng.random() < 0.5, "reduction": rng.choice(REDUCTIONS)}
    return Draw((), kwargs, (T(s, "normal" if log_input else "unit"), T(s, "unit")))


def pairs(rng: random.Random) -> Draw:
    s = shape(rng, 1, 3)
    return Draw((), {"p": rng.choice((1.0, 2.0, 3.0)), "keepdim": rng.random() < 0.5}, (T(s), T(s)))


def cosine(rng: random.Random) -> Draw:
    s = shape(rng, 1, 3)
    return Draw((), {"dim": rng.randint(-len(s), len(s))}, (T(s), T(s)))


def shuffled(rng: random.Random) -> Draw:
    r = rng.randint(1, 3)
    channels = rng.choice((r * r, 2 * r * r, 3))
    return Draw((r,), {}, (T((*shape(rng, 0, 2), channels, rng.randint(1, 3), rng.randint(1, 3))),))


def unshuffled(rng: random.Random) -> Draw:
    r = rng.randint(1, 3)
    return Draw((r,), {}, (T((*shape(rng, 0, 2), rng.choice((r, 2 * r, 3)), 2 * r)),))


def channels(rng: random.Random) -> Draw:
    g = rng.randint(1, 3)
    return Draw((g,), {}, (T((2, rng.choice((g, 2 * g, 3)), 2, 2)),))


def prelu(rng: random.Random) -> Draw:
    c = rng.randint(1, 4)
    args = rng.choice(((), (c,), (c, 0.1)))
    return Draw(args, {}, (T((rng.randint(1, 3), c, *shape(rng, 0, 2))),))


def glu(rng: random.Random) -> Draw:
    s = tuple(rng.choice((2, 4, 6, 3)) for _ in range(rng.randint(0, 3)))
    return Draw((), {"dim": rng.randint(-len(s), max(len(s) - 1, 0))}, (T(s),))


def linear(rng: random.Random) -> Draw:
    i, o = rng.randint(1, 5), rng.randint(1, 5)
    return Draw((i, o), {"bias": rng.random() < 0.6}, (T((*shape(rng, 0, 3), rng.choice((i, i, i, i + 1)))),))


def bilinear(rng: random.Random) -> Draw:
    i, j, o, s = rng.randint(0, 4), rng.randint(1, 4), rng.randint(1, 4), shape(rng, 0, 2)
    return Draw((i, j, o), {"bias": rng.random() < 0.6}, (T((*s, i)), T((*s, rng.choice((j, j, j, j + 1))))))


def cross_entropy(rng: random.Random) -> Draw:
    n, c, rest = rng.randint(1, 4), rng.randint(1, 5), shape(rng, 0, 2)
    kwargs = {"reduction": rng.choice(REDUCTIONS), "label_smoothing": rng.choice((0.0, 0.2))}
    if rng.random() < 0.5:
        kwargs["weight"] = T((c,), "unit")
    if rng.random() < 0.3:
        kwargs["ignore_index"] = 0
    return Draw((), kwargs, (T((n, c, *rest)), T((n, *rest), "class", c)))


ROWS: dict[str, Row] = {
    "ReLU": pointwise(inplace),
    "RReLU": pointwise(lambda rng: {"lower": 0.1, "upper": rng.choice((0.1, 0.5, 0.05)), **inplace(rng)}),
    "Hardtanh": pointwise(lambda rng: {"min_val": -0.5, "max_val": rng.choice((0.5, 2.0, -1.0))}, inplace),
    "ReLU6": pointwise(inplace),
    "Sigmoid": pointwise(),
    "Hardsigmoid": pointwise(inplace),
    "Tanh": pointwise(),
    "SiLU": pointwise(inplace),
    "Mish": pointwise(inplace),
    "Hardswish": pointwise(inplace),
    "ELU": pointwise(lambda rng: {"alpha": rng.choice((0.5, 2.0))}, inplace),
    "CELU": pointwise(lambda rng: {"alpha": rng.choice((0.5, 2.0))}, inplace),
    "SELU": pointwise(inplace),
    "GELU": pointwise(lambda rng: {"approximate": rng.choice(("none", "tanh", "other"))}),
    "Hardshrink": pointwise(lambda rng: {"lambd": rng.choice((0.2, 1.0))}),
    "LeakyReLU": pointwise(lambda rng: {"negative_slope": rng.choice((0.2, 0.0))}, inplace),
    "LogSigmoid": pointwise(),
    "Softplus": pointwise(lambda rng: {"beta": rng.choice((0.5, 2.0)), "threshold": rng.choice((1.0, 20.0))}),
    "Softshrink": pointwise(lambda rng: {"lambd": rng.choice((0.2, 1.0, -1.0))}),
    "Softsign": pointwise(),
    "Tanhshrink": pointwise(),
    "Threshold": pointwise(lambda rng: {"threshold": 0.3, "value": rng.choice((1.0, -2.0))}),
    "PReLU": prelu,
    "GLU": glu,
    "Softmin": dims,
    "Softmax": dims,
    "LogSoftmax": dims,
    "Softmax2d": lambda rng: Draw((), {}, (T(shape(rng, 2, 5)),)),
    "Dropout": dropout(0, 4),
    "Dropout1d": dropout(2, 4),
    "Dropout2d": dropout(4, 4),
    "Dropout3d": dropout(4, 5),
    "AlphaDropout": dropout(0, 4),
    "FeatureAlphaDropout": dropout(2, 4),
    # torch returns memory that it never wrote where a circular border is negative on one side and not on the other
    **{f"CircularPad{n}d": padding(n, low=0) for n in (1, 2, 3)},
    **{f"{kind}Pad{n}d": padding(n) for kind in ("Reflection", "Replication", "Zero") for n in (1, 2, 3)},
    **{f"ConstantPad{n}d": padding(n, value=True) for n in (1, 2, 3)},
    "L1Loss": losses("normal"),
    "MSELoss": losses("normal"),
    "SmoothL1Loss": losses("normal", lambda rng: {"beta": rng.choice((0.0, 0.5))}),
    "HuberLoss": losses("normal", lambda rng: {"delta": rng.choice((0.5, 2.0))}),
    "BCEWithLogitsLoss": losses("unit"),
    "KLDivLoss": losses("unit", lambda rng: {"log_target": rng.random() < 0.5}, low=1),
    "HingeEmbeddingLoss": losses("sign", margin),
    "SoftMarginLoss": losses("sign"),
    "PoissonNLLLoss": poisson,
    "GaussianNLLLoss": gaussian,
    "MultiLabelMarginLoss": multilabel_margin,
    "MultiLabelSoftMarginLoss": multilabel_soft,
    "MultiMarginLoss": multi_margin,
    "CosineEmbeddingLoss": cosine_embedding,
    "MarginRankingLoss": ranking,
    "TripletMarginLoss": triplet,
    "TripletMarginWithDistanceLoss": triplet_with_distance,
    "CrossEntropyLoss": cross_entropy,
    "PairwiseDistance": pairs,
    "CosineSimilarity": cosine,
    "PixelShuffle": shuffled,
    "PixelUnshuffle": unshuffled,
    "ChannelShuffle": channels,
    "Linear": linear,
    "Bilinear": bilinear,
}
