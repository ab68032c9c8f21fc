"""Rows of weight norm.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def norms(make: Inputs) -> Iterator[Sample]:
    for dim in (0, 1, 2, -1):
        yield Sample((make(2, 3, 4), 2, dim))
        yield Sample((make(3, 3, 4, layout="transposed"), 1, dim))
    yield Sample((make(5),))


def weights(make: Inputs) -> Iterator[Sample]:
    """The directions, and lengths of the shape of the norms"""
    for dim, sizes in ((0, (2, 1, 1)), (1, (1, 3, 1)), (2, (1, 1, 4))):
        yield Sample((make(2, 3, 4), make(*sizes), dim))
    yield Sample((make(2, 3, 4), make(), -1))
    yield Sample((make(3, 4, layout="transposed"), make(3, 1)))
    yield Sample((make(5), make(5)))


def outer_weights(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3, 4), make(2, 1, 1), 0))
    yield Sample((make(2, 3), make(1, 3), 1))


def backwards(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3, 4), make(2, 3, 4), make(2, 1, 1), make(2, 1, 1, low=0.5), 0))
    yield Sample((make(2, 3), make(2, 3), make(1, 3), make(1, 3, low=0.5), 1))


def called(name: str) -> Callable[..., Any]:
    return lambda lib, *args: backward_op(lib, name)(*args)


def does_not_fit(sample: Sample) -> bool:
    """Whether there is no weight, or the shape of the lengths is not that of the norms of the weight."""
    shapes = [argument.values.shape for argument in sample.args if isinstance(argument, Input)]
    half = len(shapes) // 2  # weights come first, and then their lengths
    sizes, dim = shapes[0], sample.args[len(shapes)] if len(sample.args) > len(shapes) else 0
    if not isinstance(dim, int) or not -len(sizes) <= dim < len(sizes):
        return len(sizes) > 0
    norms = () if dim == -1 else tuple(n if i == dim % len(sizes) else 1 for i, n in enumerate(sizes))
    return 0 in sizes or shapes != [sizes] * half + [norms] * half


NO_CHECK = Apart("torch does not look at the shapes", when=does_not_fit, crashes=True)

ROWS = [
    OpInfo("norm_except_dim", norms),
    # torch's second derivative takes the norms for constants, and fails torch's own gradgradcheck.
    OpInfo("_weight_norm", weights, gradient=False, apart=(NO_CHECK,)),
    OpInfo("_weight_norm_interface", outer_weights, dtypes=("float64", "float32"), gradient=False, apart=(NO_CHECK,)),
    OpInfo(
        "_weight_norm_differentiable_backward",
        backwards,
        dtypes=("float64", "float32"),
        call=called("_weight_norm_differentiable_backward"),
        apart=(
            Apart(
                "torch asks for contiguous tensors, which the examples of a vmap seldom are", says="must be contiguous"
            ),
        ),
    ),
]
# As in torch, there is no second derivative of the op itself.
VALUES = [
    OpInfo(
        "_weight_norm_interface_backward",
        backwards,
        dtypes=("float64", "float32"),
        call=called("_weight_norm_interface_backward"),
        gradient=False,
        apart=(NO_CHECK,),
    ),
]
