"""Samples of one tensor for functions of each element.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, INF, NAN, Inputs, OpInfo, Sample


def elementwise(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(),))
    yield Sample((make(0, 3),))
    yield Sample((make(2, 3),))
    yield Sample((make(301),))  # past the vector loop's last whole step
    yield Sample((make(3, 2, 4, layout="transposed"),))
    yield Sample((make(3, 5, layout="strided"),))
    yield Sample((make(4, 3, layout="expanded"),))


def special_points(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN, 1e-30, 90, -90, 700, -110),))


def with_specials(make: Inputs) -> Iterator[Sample]:
    yield from elementwise(make)
    yield from special_points(make)


def smooth(name: str, low: float = -3, high: float = 3, ref: object = None) -> OpInfo:
    """A function that is differentiable between low and high. The lists ``SPECIAL`` have rows for special values."""
    return OpInfo(name, elementwise, dtypes=DTYPES, low=low, high=high, ref=ref)


def two_alike(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3)))
    yield Sample((make(301), make(301)))
    yield Sample((make(3, 5, layout="strided"), make(3, 5, layout="transposed")))


def backward_op(lib: object, name: str) -> object:
    """torch keeps them in torch.ops.aten."""
    ops = getattr(lib, "ops", None)
    if ops is not None:
        return getattr(ops.aten, name)
    return getattr(lib._C._nn, name, None) or getattr(lib._C._VariableFunctions, name)
