"""Rows of the nonlinear functions of networks.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INTEGERS, STRIDE_OF_ONE, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op, elementwise, smooth, special_points, two_alike, with_specials

NUMBERS = (*FLOATS, *INTEGERS)


def with_options(samples: Callable[[Inputs], Iterator[Sample]], *options: Any) -> Callable[[Inputs], Iterator[Sample]]:
    """Each sample with the op's defaults, where it has them all, and with each choice of options."""

    def samples_with_options(make: Inputs) -> Iterator[Sample]:
        for sample in samples(make):
            for option in options:
                if isinstance(option, dict):
                    yield Sample(sample.args, option)
                else:
                    yield Sample((*sample.args, *option))

    return samples_with_options


OPTIONS: dict[str, tuple[Any, ...]] = {
    "leaky_relu": ((), (0.3,), (-0.5,)),
    "hardtanh": ((), (-2, 1)),
    "relu6": ((),),
    "hardsigmoid": ((),),
    "hardswish": ((),),
    "hardshrink": ((), (1.5,)),
    "softshrink": ((), (1.5,), (-1.0,)),
    "gelu": ({}, {"approximate": "tanh"}, {"approximate": "other"}),
    "elu": ((), (2.0,), (1.5, 1.2, 0.7)),
    "celu": ((), (0.5,), (0.0,)),
    "selu": ((),),
    "silu": ((),),
    "mish": ((),),
    "softplus": ((), (2.0, 3.0)),
    "log_sigmoid": ((),),
}

# (grad_output, input) -> the arguments of the call
BACKWARDS: dict[str, Callable[[Any, Any], Sample]] = {
    "leaky_relu_backward": lambda g, x: Sample((g, x, 0.3, False)),
    "hardtanh_backward": lambda g, x: Sample((g, x, -2.0, 1.0)),
    "hardsigmoid_backward": lambda g, x: Sample((g, x)),
    "hardswish_backward": lambda g, x: Sample((g, x)),
    "hardshrink_backward": lambda g, x: Sample((g, x, 1.0)),
    "softshrink_backward": lambda g, x: Sample((g, x, 1.0)),
    "elu_backward": lambda g, x: Sample((g, 1.5, 1.2, 0.7, False, x)),
    "silu_backward": lambda g, x: Sample((g, x)),
    "mish_backward": lambda g, x: Sample((g, x)),
    "softplus_backward": lambda g, x: Sample((g, x, 2.0, 3.0)),
}


def backwards(call: Callable[[Any, Any], Sample]) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        for pair in two_alike(make):
            yield call(*pair.args)

    return samples


def gelu_backwards(make: Inputs) -> Iterator[Sample]:
    for pair in two_alike(make):
        yield Sample(pair.args)
        yield Sample(pair.args, {"approximate": "tanh"})


def elu_backwards_of_results(make: Inputs) -> Iterator[Sample]:
    for pair in two_alike(make):
        yield Sample((pair.args[0], 1.5, 1.2, 0.7, True, pair.args[1]))
    yield Sample((make(2), -1.0, 1.0, 1.0, True, make(2)))


def leaky_relu_backwards_of_results(make: Inputs) -> Iterator[Sample]:
    for slope in (0.3, -0.3):
        yield Sample((make(5), make(5), slope, True))


def log_sigmoid_backward(lib: Any, grad_output: Any, x: Any) -> Any:
    _, buffer = backward_op(lib, "log_sigmoid_forward")(x.detach())
    return backward_op(lib, "log_sigmoid_backward")(grad_output, x, buffer)


def called(name: str) -> Callable[..., Any]:
    """Public functions in neither library."""
    return lambda lib, *args, **kwargs: backward_op(lib, name)(*args, **kwargs)


def has_nan(sample: Sample) -> bool:
    return any(isinstance(a, Input) and a.is_float and bool(np.isnan(a.values).any()) for a in sample.args)


def is_infinite(sample: Sample) -> bool:
    return any(isinstance(a, Input) and a.is_float and bool(np.isinf(a.values).any()) for a in sample.args)


NAN_OF_INFINITY = Apart(
    "torch weighs infinity by a quotient of infinities, which is NaN, in some dtypes", when=is_infinite
)

# Whose second derivative torch has not, or makes of other ops.
ONCE_DIFFERENTIABLE = ("hardsigmoid", "hardsigmoid_backward", "silu_backward", "mish_backward")

SIXTH = 1e-7  # torch multiplies doubles by a sixth of float's precision

NAN_IN_VECTORS = Apart("torch gives NaN one slope in vector instructions and another elsewhere", when=has_nan)

ONEDNN = Apart("torch hands gelu to a library that takes no broadcast gradient", says="could not create a primitive")


def leaks(make: Inputs) -> Iterator[Sample]:
    for shape, weights in (((4,), (1,)), ((3, 4), (4,)), ((2, 3, 2), (3,)), ((2, 3), ()), ((), ())):
        yield Sample((make(*shape), make(*weights)))


def prelu_backwards(make: Inputs) -> Iterator[Sample]:
    """The strides of the results follow from all three tensors, where they disagree."""
    yield Sample((make(301), make(301), make(301)))
    for layouts in itertools.product(("contiguous", "transposed", "expanded"), repeat=3):
        yield Sample(tuple(make(2, 3, layout=layout) for layout in layouts))
    yield Sample((make(2, 3, 4), make(2, 3, 4, layout="rolled"), make(3, 1)))


def with_threshold(make: Inputs) -> Iterator[Sample]:
    for sample in elementwise(make):
        yield Sample((*sample.args, 0.5, 7))


FUNCTIONS = [
    OpInfo(
        name,
        with_options(elementwise, *options),
        dtypes=NUMBERS if name in ("hardtanh", "relu6") else FLOATS,
        torch_gradient=name not in ONCE_DIFFERENTIABLE,
        rtol=SIXTH if name == "hardsigmoid" else None,
        apart=(NAN_OF_INFINITY,) if name == "gelu" else (),
    )
    for name, options in OPTIONS.items()
]


def slopes(make: Inputs) -> Iterator[Sample]:
    for training in (True, False):
        yield Sample((make(4, 3), 0.25, 0.75, training))
        yield Sample((make(3, 4, layout="transposed"), 0.1, 0.1, training))
    yield Sample((make(4, 3),))


def seeded(name: str) -> Callable[..., Any]:
    def call(lib: Any, *args: Any) -> Any:
        lib.manual_seed(3)
        return getattr(lib, name)(*args)

    return call


def rrelu_backward(lib: Any, grad: Any, x: Any, noise: Any, *args: Any) -> Any:
    return backward_op(lib, "rrelu_with_noise_backward")(grad, x, noise.detach(), *args)


def with_noise(lib: Any, x: Any, *args: Any) -> Any:
    """The result and the slopes, if they are written."""
    lib.manual_seed(3)
    noise = lib.zeros_like(x.detach(), memory_format=lib.contiguous_format)
    return lib._C._nn.rrelu_with_noise(x, noise, *args), noise


ROWS = [
    *FUNCTIONS,
    OpInfo("log_sigmoid_forward", elementwise, call=called("log_sigmoid_forward")),
    *(
        OpInfo(
            name,
            backwards(call),
            call=called(name),
            torch_gradient=name not in ONCE_DIFFERENTIABLE,
            rtol=SIXTH if name == "hardsigmoid_backward" else None,
            apart=(NAN_IN_VECTORS,),
        )
        for name, call in BACKWARDS.items()
    ),
    OpInfo("gelu_backward", gelu_backwards, call=called("gelu_backward"), apart=(NAN_OF_INFINITY, ONEDNN)),
    OpInfo("log_sigmoid_backward", two_alike, call=log_sigmoid_backward),
    OpInfo(
        "prelu",
        leaks,
        dtypes=FLOATS,
        apart=(STRIDE_OF_ONE,),
    ),
    OpInfo("_prelu_kernel", two_alike),
    OpInfo(
        "_prelu_kernel_backward",
        prelu_backwards,
        call=called("_prelu_kernel_backward"),
    ),
    OpInfo("rrelu", slopes, call=seeded("rrelu")),
    OpInfo("rrelu_with_noise", slopes, call=with_noise, out=False),
    OpInfo(
        "rrelu_with_noise_backward",
        lambda make: [
            Sample((make(2, 3), make(2, 3), Input(np.full((2, 3), 0.5), make.dtype), 0.25, 0.75, training, False))
            for training in (True, False)
        ],
        call=rrelu_backward,
        gradcheck=False,  # finite differences change the noise too, which has no derivative
    ),
    smooth("relu", ref=lambda x: np.maximum(x, 0)),
    OpInfo("threshold", with_threshold, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo(
        "threshold_backward",
        two_alike,
        dtypes=(*FLOATS, *INTEGERS),
        call=lambda lib, g, x: backward_op(lib, "threshold_backward")(g, x, 0.0),
    ),
]

# Values only.
SPECIAL = [
    *(OpInfo(name, with_options(with_specials, *options)) for name, options in OPTIONS.items() if name != "gelu"),
    OpInfo("elu_backward", elu_backwards_of_results, call=called("elu_backward")),
    OpInfo("leaky_relu_backward", leaky_relu_backwards_of_results, call=called("leaky_relu_backward")),
    OpInfo("relu", special_points, dtypes=DTYPES),
]
