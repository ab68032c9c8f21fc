"""Samples of one tensor, or of a list of tensors, for views and rearranged copies.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import DTYPES, Apart, Inputs, Library, OpInfo, Sample

Arguments = tuple[Any, ...]


def of(
    *shape: int, layouts: tuple[str, ...] = ("contiguous", "transposed"), calls: tuple[Arguments, ...] = ((),)
) -> Any:
    """The op on a tensor of that shape, in each layout, with each of the further arguments."""

    def samples(make: Inputs) -> Iterator[Sample]:
        for layout in layouts:
            for arguments in calls:
                yield Sample((make(*shape, layout=layout), *arguments))

    return samples


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=DTYPES, **options)


NEGATIVE_SIZE = Apart(
    "torch makes a tensor of a negative size where another is 0",
    says="Storage size calculation overflowed",
    when=lambda sample: min(sample.args[1], default=0) < 0,
)


def only_dense(*shape: int, calls: tuple[Arguments, ...]) -> Any:
    return of(*shape, layouts=("contiguous",), calls=calls)


def lists(*shapes: tuple[int, ...], calls: tuple[Arguments, ...] = ((),)) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        for arguments in calls:
            yield Sample(([make(*shape) for shape in shapes], *arguments))

    return samples


def with_another(shape: tuple[int, ...], other: tuple[int, ...]) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        yield Sample((make(*shape), make(*other)))

    return samples


def aten(name: str) -> Callable[..., Any]:
    """An op that torch does not show as a function."""

    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        functions = lib._C._VariableFunctions if lib.__name__ == "reftorch" else lib.ops.aten
        return getattr(functions, name)(*args, **kwargs)

    return call
