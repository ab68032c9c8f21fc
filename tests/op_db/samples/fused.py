"""Samples of the fused steps of optimizers: lists of parameters, gradients and states.

Mirrors: torch/testing/_internal/common_optimizers.py
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, Sample

SHAPES = ((2, 3), (), (700,))  # the last one has several blocks
SMALL = SHAPES[:2]


def updates(
    make: Inputs,
    lists: int,
    options: dict[str, Any],
    empty: int = 0,
    steps: int | None = None,
    shapes: tuple[tuple[int, ...], ...] = SHAPES,
) -> Iterator[Sample]:
    """``lists`` lists of positive tensors, ``empty`` empty ones, and perhaps the numbers of steps."""

    def values(low: float) -> list[Input]:
        return [make(*shape, low=low, high=3) for shape in shapes]

    args: list[Any] = [values(-3), values(-3), *(values(0) for _ in range(lists - 2)), *([] for _ in range(empty))]
    if steps is not None:
        args.append([Input(np.array(float(steps + i)), "float32") for i in range(len(shapes))])
    yield Sample(tuple(args), options)
    one = {"grad_scale": Input(np.array(4.0), "float32"), "found_inf": Input(np.array(0.0), "float32")}
    yield Sample(tuple(args), {**options, **one})
    yield Sample(tuple(args), {**options, "found_inf": Input(np.array(1.0), "float32")})


def _unlike(sample: Sample) -> bool:
    """Whether the tensors of one parameter are not of one shape, dtype and layout, or a number is not one element."""
    lists = [one for one in sample.args if one]
    has_steps = all(t.dtype == "float32" and t.values.size == 1 for t in lists[-1]) and len(lists) > 3
    numbers = [t for t in (*(lists.pop() if has_steps else ()), *sample.kwargs.values()) if isinstance(t, Input)]
    alike = all(
        len({(t.values.shape, t.dtype) for t in tensors}) == 1 and all(t.layout == "contiguous" for t in tensors)
        for tensors in zip(*lists, strict=True)
    )
    return not alike or any(t.values.size != 1 or t.dtype != "float32" for t in numbers)


UNLIKE = Apart(
    "torch reads and writes beyond memory, or mixes elements up, where the tensors of a parameter are not alike",
    when=_unlike,
    crashes=True,
)


def update(name: str, overload: str = "default") -> Callable[..., Any]:
    """Call the op and return the lists that it has changed."""

    def call(lib: Any, *lists: Any, **options: Any) -> Any:
        getattr(getattr(lib.ops.aten, name), overload)(*lists, **options)
        return [t for tensors in lists for t in tensors]

    return call
