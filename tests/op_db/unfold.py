"""Rows of windows along a dimension.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Apart, Sample
from tests.op_db.samples.shape import aten, of, row


def is_no_unfold(sample: Sample) -> bool:
    """Whether unfold does not make args[0]'s shape of the input's."""
    grad, sizes, dim, size, step = sample.args
    if not -len(sizes) <= dim < len(sizes) or step < 1:
        return True
    unfolded = list(sizes)
    unfolded[dim] = (sizes[dim] - size) // step + 1
    return grad.values.shape != (*unfolded, size)


ROWS = [
    row("unfold", of(4, 3, calls=((0, 2, 1), (0, 3, 2), (1, 1, 2), (-1, 3, 1), (0, 0, 1)))),
    row(
        "unfold_backward",
        of(2, 3, 2, calls=(((3, 3), 0, 2, 1),)),
        call=aten("unfold_backward"),
        apart=(Apart("torch takes a gradient of a shape that no unfold has", when=is_no_unfold),),
    ),
]
