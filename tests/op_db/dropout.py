"""Rows of noise that sets elements, or whole channels, to zero.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_dropout)
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator

from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample
from tests.op_db.max_pooling import at_op
from tests.op_db.samples.factories import seeded


def noises(*shapes: tuple[int, ...]) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        for shape in shapes:
            for p, train in ((0.5, True), (0.3, False), (0.0, True), (1.0, True), (1.5, True), (-0.5, False)):
                yield Sample((make(*shape), p, train))
        yield Sample((make(3, 2, 4, layout="transposed"), 0.4, True))
        yield Sample((make(3, 4, layout="strided"), 0.4, True))
        yield Sample((make(3, 4, layout="expanded"), 0.4, True))
        yield Sample((make(0, 2), 0.4, True))

    return samples


def masked(make: Inputs) -> Iterator[Sample]:
    if not make.is_float:
        return
    yield Sample((make(2, 3), make(2, 3, dtype="bool"), 2.0))
    yield Sample((make(3, 2, 2, layout="transposed"), make(3, 2, 2, dtype="bool"), 1.5))
    yield Sample((make(2, 3), make(3, dtype="bool"), 0.0))


# The noise differs from call to call, so that the function is drawn with one seed; what it does in place is tested by
# tests/nn/functional/test_dropouts.py.
ROWS = [
    OpInfo("dropout dropout_", noises((2, 3), (40,), ()), call=seeded("dropout"), dtypes=DTYPES, out=False),
    OpInfo("alpha_dropout alpha_dropout_", noises((2, 3), ()), call=seeded("alpha_dropout"), dtypes=DTYPES, out=False),
    OpInfo(
        "feature_dropout feature_dropout_",
        noises((2, 3), (2, 3, 2), (4,)),
        call=seeded("feature_dropout"),
        dtypes=DTYPES,
        out=False,
    ),
    OpInfo(
        "feature_alpha_dropout feature_alpha_dropout_",
        noises((2, 3), (2, 3, 2), (4,)),
        call=seeded("feature_alpha_dropout"),
        dtypes=DTYPES,
        out=False,
    ),
    OpInfo("native_dropout", noises((2, 3), (40,), ()), call=seeded("native_dropout"), dtypes=DTYPES, out=False),
    OpInfo("native_dropout_backward", masked, call=at_op("native_dropout_backward"), out=False),
]
