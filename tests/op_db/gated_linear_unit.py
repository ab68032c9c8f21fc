"""Rows of glu.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def halved(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4),))
    yield Sample((make(3, 602), -1))
    yield Sample((make(4, 3, layout="transposed"), 0))
    yield Sample((make(2, 4, 3, layout="strided"), 1))
    yield Sample((make(0, 4), 1))
    yield Sample((make(2, 3), 1))
    yield Sample((make(),))
    yield Sample((make(4), 1))


def backwards(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2), make(4), -1))
    yield Sample((make(2, 3, layout="transposed"), make(4, 3, layout="strided"), 0))
    yield Sample((make(3), make(4), 0))


ROWS = [
    OpInfo("glu", halved, call=lambda lib, *args, **options: lib._C._nn.glu(*args, **options)),
    OpInfo(
        "glu_backward",
        backwards,
        call=lambda lib, *args: backward_op(lib, "glu_backward")(*args),
        apart=(
            Apart(
                "torch broadcasts gradients of other shapes, and resizes a slice", says="expected grad_output of shape"
            ),
        ),
    ),
]
