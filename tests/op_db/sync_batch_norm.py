"""Rows of the parts of batch normalization between which ranks exchange numbers.

Mirrors: test/test_nn.py (test_sync_batchnorm_accuracy_cuda)
Leaves out: GPUs, and halves, which the formulas would round in each step. In torch these ops have no kernel for the
CPU, so the formulas stand in for them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample

SHAPES = ((4, 3), (2, 3, 5), (2, 1, 2, 2))


def wide(vector: Any, x: Any) -> Any:
    return vector.reshape(1, -1, *[1] * (x.dim() - 2))


def others(x: Any) -> list[int]:
    return [d for d in range(x.dim()) if d != 1]


def stats(x: Any, eps: float) -> tuple[Any, Any]:
    return x.mean(others(x)), (x.var(others(x), correction=0) + eps) ** -0.5


def gathered(
    x: Any, mean: Any, invstd: Any, running_mean: Any, running_var: Any, momentum: float, eps: float, counts: Any
) -> list[Any]:
    n = counts.to(mean.dtype).reshape(-1, 1)
    total = n.sum()
    both = (mean * n).sum(0) / total
    squares = ((invstd**-2 - eps + mean**2) * n).sum(0) / total
    variance = squares - both**2
    if running_mean is not None:
        running_mean = running_mean * (1 - momentum) + both * momentum
        running_var = running_var * (1 - momentum) + variance * total / (total - 1) * momentum
    return [t for t in (both, (variance + eps) ** -0.5, running_mean, running_var) if t is not None]


def elemt(x: Any, weight: Any, bias: Any, mean: Any, invstd: Any, eps: float) -> Any:
    y = (x - wide(mean, x)) * wide(invstd, x)
    y = y if weight is None else y * wide(weight, x)
    return y if bias is None else y + wide(bias, x)


def reduced(dy: Any, x: Any, mean: Any, invstd: Any, weight: Any, *masks: bool) -> list[Any]:
    sum_dy, sum_dy_xmu = dy.sum(others(x)), (dy * (x - wide(mean, x))).sum(others(x))
    input_g, weight_g, bias_g = masks
    return [*([sum_dy, sum_dy_xmu] * input_g), *([sum_dy_xmu * invstd] * weight_g), *([sum_dy] * bias_g)]


def backward_elemt(
    dy: Any, x: Any, mean: Any, invstd: Any, weight: Any, sum_dy: Any, sum_dy_xmu: Any, count: Any
) -> Any:
    n = count.sum()
    slope = wide(sum_dy_xmu * invstd**2 / n, x)
    dx = (dy - wide(sum_dy / n, x) - (x - wide(mean, x)) * slope) * wide(invstd, x)
    return dx if weight is None else dx * wide(weight, x)


def op(name: str, formula: Any, running: bool = False) -> Any:
    """The op of this library, or the formula for torch."""

    def call(lib: Any, *args: Any) -> Any:
        if lib.__name__ == "torch":
            return formula(*args)
        if running:  # the op changes the running statistics in place; here they become results
            args = (*args[:3], *(None if t is None else t.clone() for t in args[3:5]), *args[5:])
        results = getattr(lib, name)(*args)
        if running:
            results = [*results, *args[3:5]]
        return [t for t in results if t is not None] if isinstance(results, (tuple, list)) else results

    return call


def vectors(make: Inputs, *shape: int, count: int) -> list[Any]:
    return [make(*shape) for _ in range(count)]


def positive(make: Inputs, *shape: int) -> Any:
    return Inputs(make.dtype, 0.5, 2)(*shape)


def stats_calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float32", "float64"):
        yield from (Sample((make(*shape), 0.1)) for shape in SHAPES)


def gather_calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float32", "float64"):
        x, invstd, counts = make(2, 3), positive(make, 4, 3), positive(make, 4)
        yield Sample((x, make(4, 3), invstd, make(3), positive(make, 3), 0.3, 0.1, counts))
        yield Sample((x, make(4, 3), invstd, None, None, 0.3, 0.1, counts))


def gather_calls_of_one_count(make: Inputs) -> Iterator[Sample]:
    for sample in gather_calls(make):
        yield Sample((*sample.args[:-1], 5))


def elemt_calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float32", "float64"):
        for shape in SHAPES:
            weight, bias, mean = vectors(make, shape[1], count=3)
            yield Sample((make(*shape), weight, bias, mean, positive(make, shape[1]), 0.1))
            yield Sample((make(*shape), None, None, mean, positive(make, shape[1]), 0.1))


def reduce_calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float32", "float64"):
        for shape in SHAPES:
            for masks in ((True, True, True), (False, True, False), (True, False, True)):
                mean, weight = vectors(make, shape[1], count=2)
                yield Sample((make(*shape), make(*shape), mean, positive(make, shape[1]), weight, *masks))


def backward_calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float32", "float64"):
        for shape in SHAPES:
            mean, weight, sum_dy, sum_dy_xmu = vectors(make, shape[1], count=4)
            common = (make(*shape), make(*shape), mean, positive(make, shape[1]))
            yield Sample((*common, weight, sum_dy, sum_dy_xmu, positive(make, 2)))
            yield Sample((*common, None, sum_dy, sum_dy_xmu, positive(make, 2)))


def shapes_of(sample: Sample) -> tuple[Any, ...]:
    return tuple((a.values.shape, a.dtype) if isinstance(a, Input) else type(a) for a in sample.args)


def is_not_of(samples: Any) -> Any:
    """Whether a call has other shapes or dtypes than these samples, or a number that is 0, infinite or NaN."""

    def when(sample: Sample) -> bool:
        known = {shapes_of(each) for dtype in ("float32", "float64") for each in samples(Inputs(dtype))}
        values = [a.values for a in sample.args if isinstance(a, Input)]
        return shapes_of(sample) not in known or not all((np.isfinite(v) & (v != 0)).all() for v in values)

    return when


def row(name: str, samples: Any, formula: Any, running: bool = False) -> OpInfo:
    return OpInfo(
        name,
        samples,
        call=op(name, formula, running),
        dtypes=("float32", "float64"),
        gradient=not running,  # the formula differentiates what the op does to the running statistics in place
        gradcheck=False,
        out=False,
        rtol=2e-4,
        apart=(Apart("the formula, which stands in for torch, does not look at its inputs", when=is_not_of(samples)),),
    )


VALUES = [
    row("batch_norm_stats", stats_calls, stats),
    row("batch_norm_gather_stats_with_counts", gather_calls, gathered, running=True),
    row(
        "batch_norm_gather_stats",
        gather_calls_of_one_count,
        lambda x, mean, *rest: gathered(x, mean, *rest[:-1], (mean[:, 0] * 0 + rest[-1])),
        running=True,
    ),
    row("batch_norm_elemt", elemt_calls, elemt),
    row("batch_norm_backward_reduce", reduce_calls, reduced),
    row("batch_norm_backward_elemt", backward_calls, backward_elemt),
]
