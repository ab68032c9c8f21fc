"""Rows of draws from exponential, geometric, Cauchy, gamma, Poisson and discrete distributions.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, Sample
from tests.op_db.samples.factories import like, row, seeded


def weights(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5), 9, True))
    yield Sample((make(3, 4), 5), {"replacement": True})
    yield Sample((make(4, 3, layout="transposed"), 2, True))


BROADCAST = Apart(
    "torch writes a result of broadcast operands with the strides of a contiguous tensor",
    says="strides",
    when=lambda sample: len({arg.values.shape for arg in sample.args}) > 1,
)

# The results have no gradient: values only.
VALUES = [
    row(
        "binomial",
        lambda make: [
            Sample((Input(np.full(shape, count), make.dtype), make(*shape, low=0, high=1)))
            for shape in ((2, 3), (), (4, 1))
            for count in (0, 5, 1000)
        ],
        call=seeded("binomial"),
        dtypes=FLOATS,
        apart=(
            Apart(
                "torch may draw without end where the tries are no finite number",
                crashes=True,
                when=lambda sample: not np.isfinite(sample.args[0].values).all(),
            ),
        ),
    ),
    row("poisson", like(dtype=False), call=seeded("poisson"), dtypes=FLOATS, low=0, high=30),
    row(
        "_standard_gamma",
        like(dtype=False),
        call=seeded("_standard_gamma"),
        dtypes=("float32", "float64"),
        low=0.1,
        high=30,
        gradcheck=False,  # the gradient is that of the quantile, and a seed does not hold the quantile
        rtol=1e-5,
    ),
    row(
        "_sample_dirichlet",
        like(dtype=False),
        call=seeded("_sample_dirichlet"),
        dtypes=("float32", "float64"),
        low=0.1,
        high=30,
        gradcheck=False,
        rtol=1e-5,
    ),
    row(
        "_standard_gamma_grad",
        lambda make: [Sample((make(*shape), make(*shape))) for shape in ((2, 3), (), (40,))],
        dtypes=("float32", "float64"),
        low=0.05,
        high=30,
        gradcheck=False,
        rtol=1e-4,
        apart=(BROADCAST,),
    ),
    row(
        "_dirichlet_grad",
        lambda make: [
            Sample((make(40, low=0, high=1), make(40, low=0.1, high=high), make(40, low=high, high=2 * high)))
            for high in (1, 10, 30)
        ],
        dtypes=("float32", "float64"),
        gradcheck=False,
        rtol=1e-4,
        apart=(BROADCAST,),
    ),
    row("multinomial", weights, call=seeded("multinomial"), dtypes=FLOATS, low=0, high=1),
]
