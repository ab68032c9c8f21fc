"""Rows of copies of a tensor with a part replaced.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Apart, Inputs, Sample
from tests.op_db.samples.indexing import row


def sliced(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5, 2), make(3, 2), 0, 1, 4))
    yield Sample((make(4, 3, layout="transposed"), make(4, 2), -1, None, None, 2))
    yield Sample((make(3), make(2), 0, 1))
    yield Sample((make(3), make(2, dtype="float32"), 0, 1))
    yield Sample((make(3), make(1), 0, 1))


def selected_part(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 2), make(2), 0, -1))
    yield Sample((make(3, 2, layout="transposed"), make(3), 1, 0))
    yield Sample((make(3, 2), make(3), 0, 1))


def on_diagonal(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(3)))
    yield Sample((make(3, 3, layout="transposed"), make(2), 1))
    yield Sample((make(2, 3, 2), make(3, 2)), {"dim1": 0, "dim2": 2})
    yield Sample((make(2, 2), make(3)))


def by_strides(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(2), (2,), (4,), 1))
    yield Sample((make(3, 3, layout="transposed"), make(2, 2), (2, 2), (1, 3)))
    yield Sample((make(4), make(3), (2,), (1,)))


def narrowed(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5, 2), 0, 1, 3))
    yield Sample((make(5, 2, layout="transposed"), -1, 1, 1))
    yield Sample((make(3), 0, 2, 2))


def diagonals(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 3), 2))
    yield Sample((make(2, 4, layout="transposed"), 1.5))
    for height in (3, 4, 7, 8):
        yield Sample((make(height, 2), 1, True))
        yield Sample((make(height, 2), 1))
    yield Sample((make(2, 2, 2), 1))
    yield Sample((make(2, 2, 3), 1))
    yield Sample((make(2), 1))


ROWS = [
    # a copy with a part replaced
    row("slice_scatter", sliced),
    row("select_scatter", selected_part),
    row("diagonal_scatter", on_diagonal),
    row(
        "as_strided_scatter", by_strides, gradient=False, torch_gradient=False
    ),  # torch's formula for self differs from the differences
    row(
        "narrow_copy narrow_copy.out",
        narrowed,
        apart=(
            Apart(
                "torch slices the slope with a start that counts from the end",
                says="gradient of",
                when=lambda sample: sample.args[2] < 0,
            ),
        ),
    ),
]

# Only in place.
IN_PLACE = [
    row("fill_diagonal_", diagonals, call=lambda lib, x, *args: x.clone().fill_diagonal_(*args)),
]
