"""Functions of one tensor, element by element.

Mirrors: torch/testing/_internal/opinfo/definitions/_masked.py (UnaryUfuncInfo rows)
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INTEGERS, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")


def elementwise(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(),))
    yield Sample((make(0, 3),))
    yield Sample((make(2, 3),))
    yield Sample((make(301),))  # past the vector loop's last whole step
    yield Sample((make(3, 2, 4, layout="transposed"),))
    yield Sample((make(3, 5, layout="strided"),))
    yield Sample((make(4, 3, layout="expanded"),))


def with_specials(make: Inputs) -> Iterator[Sample]:
    yield from elementwise(make)
    yield Sample((make.of(0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN, 1e-30, 90, -90, 700, -110),))


def smooth(name: str, low: float = -3, high: float = 3, ref: object = None) -> OpInfo:
    """Differentiable between low and high; special values are compared without gradients, see ROWS_SPECIAL."""
    return OpInfo(name, elementwise, dtypes=DTYPES, low=low, high=high, ref=ref)


def sigmoid_ref(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


SMOOTH = [
    smooth("neg", ref=np.negative),
    smooth("abs", ref=np.abs),
    smooth("sign", ref=np.sign),
    smooth("square square.out", ref=np.square),
    smooth("positive", ref=np.positive),
    smooth("exp", ref=np.exp),
    smooth("log", low=0.1, ref=np.log),
    smooth("log1p", low=-0.9, ref=np.log1p),
    smooth("sqrt", low=0.1, ref=np.sqrt),
    smooth("rsqrt", low=0.1, ref=lambda x: 1 / np.sqrt(x)),
    smooth("reciprocal", low=0.5, ref=np.reciprocal),
    smooth("sin", ref=np.sin),
    smooth("cos", ref=np.cos),
    smooth("tanh", ref=np.tanh),
    smooth("sigmoid", ref=sigmoid_ref),
    smooth("floor", ref=np.floor),
    smooth("ceil", ref=np.ceil),
    smooth("round", ref=np.round),
    smooth("trunc", ref=np.trunc),
    smooth("relu", ref=lambda x: np.maximum(x, 0)),
]

FLAT = [
    OpInfo("logical_not", with_specials, dtypes=DTYPES, ref=np.logical_not),
    OpInfo("bitwise_not", elementwise, dtypes=(*INTEGERS, "bool"), ref=np.invert),
    OpInfo("isnan", with_specials, dtypes=DTYPES, ref=np.isnan),
    OpInfo("isinf", with_specials, dtypes=DTYPES, ref=np.isinf),
    OpInfo("isfinite", with_specials, dtypes=DTYPES, ref=np.isfinite),
    OpInfo(
        "is_nonzero",
        lambda make: [Sample((make(1),)), Sample((make(),)), Sample((make(2),)), Sample((make(0),))],
        dtypes=DTYPES,
    ),
]


def two_alike(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3)))
    yield Sample((make(301), make(301)))
    yield Sample((make(3, 5, layout="strided"), make(3, 5, layout="transposed")))


# The backward ops, called as the formulas call them.
BACKWARD = [
    OpInfo("tanh_backward", two_alike, call=lambda lib, g, y: backward_op(lib, "tanh_backward")(g, y)),
    OpInfo("sigmoid_backward", two_alike, call=lambda lib, g, y: backward_op(lib, "sigmoid_backward")(g, y)),
    OpInfo(
        "threshold_backward",
        two_alike,
        dtypes=(*FLOATS, *INTEGERS),
        call=lambda lib, g, x: backward_op(lib, "threshold_backward")(g, x, 0.0),
    ),
]


def backward_op(lib: object, name: str) -> object:
    """torch keeps them in torch.ops.aten."""
    ops = getattr(lib, "ops", None)
    if ops is not None:
        return getattr(ops.aten, name)
    return getattr(lib._C._nn, name, None) or getattr(lib._C._VariableFunctions, name)


# Where the function is not smooth, or leaves its domain: values only.
SPECIAL = [
    OpInfo(
        row.ops,
        lambda make: [
            Sample((make.of(0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN, 1e-30, 90, -90, 700, -110),))
        ],
        dtypes=DTYPES,
        rtol=row.rtol,
    )
    for row in SMOOTH
]

ROWS = [*SMOOTH, *FLAT, *BACKWARD]
