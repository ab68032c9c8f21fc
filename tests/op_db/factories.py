"""Fresh tensors, random ones, and copies in another dtype or place.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: devices.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, Apart, DType, Input, Inputs, Library, OpInfo, Sample


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, **{"dtypes": DTYPES, **options})


def calls(*arguments: tuple[Any, ...]) -> Any:
    """The op without a tensor; the dtype is an argument."""

    def samples(make: Inputs) -> Iterator[Sample]:
        for positional in arguments:
            yield Sample(positional, {"dtype": DType(make.dtype)})
            yield Sample(positional)

    return samples


def between(*are_tensors: bool) -> Any:
    """From 1 to 3, each given as a number or as a tensor of no dimensions."""

    def samples(make: Inputs) -> Iterator[Sample]:
        ends = [
            Input(np.asarray(number, dtype=float), "float32") if is_tensor else number
            for number, is_tensor in zip((1, 3), are_tensors, strict=True)
        ]
        for steps in (5, 1, 0):
            yield Sample((*ends, steps), {"dtype": DType(make.dtype)})
            yield Sample((*ends, steps))
        yield Sample((*(make(2) if is_tensor else 1 for is_tensor in are_tensors), 3))  # no numbers

    return samples


def closed_ranges(make: Inputs) -> Iterator[Sample]:
    yield from calls((0, 3), (5, 0, -2))(make)
    if make.is_float:  # of integers the step would be 0, by which torch divides: the process ends
        yield from calls((0, 1, 0.25))(make)


def like(*arguments: tuple[Any, ...], dtype: bool = True) -> Any:
    """The op on tensors of that dtype in several layouts."""

    def samples(make: Inputs) -> Iterator[Sample]:
        for positional in arguments or ((),):
            yield Sample((make(2, 3), *positional))
            yield Sample((make(3, 2, 4, layout="transposed"), *positional))
            yield Sample((make(3, 4, layout="strided"), *positional))
            if dtype:
                yield Sample((make(2, 3), *positional), {"dtype": DType("float64")})

    return samples


def shape_only(name: str) -> Callable[..., Any]:
    """The contents are undefined: compare everything else."""
    return lambda lib, *args, **kwargs: _call(lib, name, *args, **kwargs).zero_()


def seeded(name: str) -> Callable[..., Any]:
    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        lib.manual_seed(17)
        return _call(lib, name, *args, **kwargs)

    return call


def _call(lib: Library, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(lib, name)(*args, **kwargs) if hasattr(lib, name) else getattr(args[0], name)(*args[1:], **kwargs)


def converted(make: Inputs) -> Iterator[Sample]:
    for dtype in DTYPES:
        yield Sample((make(2, 3), DType(dtype)))
        yield Sample((make(3, 4, layout="transposed"), DType(dtype)))


def to_other(make: Inputs) -> Iterator[Sample]:
    for dtype in ("float64", "int32"):
        yield Sample((make(2, 3), make(1, dtype=dtype)))


def to_keywords(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3),), {"dtype": DType("float64"), "copy": True})


def to_device(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), "cpu"))
    yield Sample((make(2, 3), "cpu", DType("float64")))


def deviations(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5), make(5, low=0.5, high=2)))


def weights(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5), 9, True))
    yield Sample((make(3, 4), 5), {"replacement": True})
    yield Sample((make(4, 3, layout="transposed"), 2, True))


def quietly(name: str) -> Callable[..., Any]:
    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated
            return getattr(lib, name)(*args, **kwargs)

    return call


COPIES = [
    row("clone", like(dtype=False)),
    row("contiguous", like(dtype=False)),
    row("_to_copy", to_keywords, call=lambda lib, x, dtype, copy: x.to(dtype=dtype, copy=copy)),
    row("to.dtype", converted, gradcheck=False),  # the narrow floats round too much for differences
    row("to.dtype_layout", to_keywords),
    row("to.device", to_device),
    row("to.other", to_other),
    row("type_as", to_other),
]

FACTORIES = [
    row("empty", calls(((2, 3),)), call=shape_only("empty")),
    row("empty_strided", calls(((2, 3), (1, 2))), call=shape_only("empty_strided")),
    row("empty_like", like(), call=shape_only("empty_like")),
    row("new_empty", like(((2, 3),)), call=shape_only("new_empty")),
    row("new_empty_strided", like(((2, 3), (1, 2))), call=shape_only("new_empty_strided")),
    row("zeros", calls(((2, 3),), ((),))),
    row("ones", calls(((2, 3),), ((),))),
    row("full", calls(((2, 3), 1), ((2,), 2.5))),
    row("scalar_tensor", calls((3,))),
    row("zeros_like", like()),
    row("ones_like", like()),
    row("full_like", like((3,))),
    row("new_zeros", like(((2, 3),))),
    row("new_ones", like(((2, 3),))),
    row("new_full", like(((2, 3), 4))),
    row("eye", calls((3,))),
    row("eye.m", calls((2, 3))),
    row("arange", calls((5,))),
    row("arange.start", calls((1, 5))),
    row("arange.start_step", calls((1, 9, 3))),
    row("linspace", calls((0, 10, 5), (0, 1, 1))),
    row("logspace", calls((0, 2, 3), (0, 6, 7, 2.0), (0, 1, 1), (0, 1, 0))),
    *(
        row(f"{space}.{ends}", between(*args))
        for space in ("linspace", "logspace")
        for ends, args in (
            ("Tensor_Tensor", (True, True)),
            ("Tensor_Scalar", (True, False)),
            ("Scalar_Tensor", (False, True)),
        )
    ),
    row("range.step", closed_ranges, call=quietly("range")),
    row("tril_indices", calls((3, 4), (4, 2, 1), (3, 3, -5), (0, 2)), dtypes=("int64", "int32")),
    row("triu_indices", calls((3, 4), (4, 2, 1), (3, 3, -5), (0, 2)), dtypes=("int64", "int32")),
    row("empty_permuted", calls(((2, 3, 4), (2, 0, 1))), call=shape_only("empty_permuted")),
]

RANDOM = [
    row("rand", calls(((3, 4),)), call=seeded("rand"), dtypes=FLOATS),
    row("randn", calls(((3, 4),), ((3, 7),)), call=seeded("randn"), dtypes=FLOATS),
    row("randint", calls((10, (5,))), call=seeded("randint")),
    row("randint.low", calls((3, 10, (5,))), call=seeded("randint")),
    row("randperm", calls((20,)), call=seeded("randperm")),
    row("rand_like", like(), call=seeded("rand_like"), dtypes=FLOATS),
    row("randn_like", like(), call=seeded("randn_like"), dtypes=FLOATS),
    row("randint_like", like((7,)), call=seeded("randint_like")),
    row("randint_like.low_dtype", like((3, 7)), call=seeded("randint_like")),
    row("bernoulli", like(dtype=False), call=seeded("bernoulli"),
        dtypes=FLOATS, low=0, high=1),
    row("normal.float_float", calls((1.0, 2.0, (5,))), call=seeded("normal"), dtypes=FLOATS),
    row("normal.Tensor_float", like((2.0,), dtype=False), call=seeded("normal"), dtypes=FLOATS),
    row("normal.float_Tensor", like(dtype=False),
        call=lambda lib, std: seeded("normal")(lib, 1.0, std),
        dtypes=FLOATS, low=0.5, high=2),
    row("bernoulli.p", like((0.0,), (1.0,), dtype=False), call=seeded("bernoulli"), gradient=False),
    *(
        row(name, calls(*arguments), dtypes=FLOATS[:2])
        for name, arguments in {
            "bartlett_window": ((5,), (6, False), (1,), (0,)),
            "blackman_window": ((5,), (6, False), (1,), (0,)),
            "hann_window": ((5,), (6, False), (1,), (0,), (-1,)),
            "hamming_window": ((5,), (6, False), (6, True, 0.5), (6, True, 0.5, 0.4), (1,)),
            "kaiser_window": ((5,), (6, False), (6, True, 3.0), (1,)),
        }.items()
    ),
    row("binomial", lambda make: [
        Sample((Input(np.full(shape, count), make.dtype), make(*shape, low=0, high=1)))
        for shape in ((2, 3), (), (4, 1)) for count in (0, 5, 1000)], call=seeded("binomial"), dtypes=FLOATS,
        apart=(Apart("torch may draw without end where the tries are no finite number", crashes=True,
                     when=lambda sample: not np.isfinite(sample.args[0].values).all()),)),
    row("poisson", like(dtype=False), call=seeded("poisson"), dtypes=FLOATS, low=0, high=30),
    row("multinomial", weights, call=seeded("multinomial"), dtypes=FLOATS, low=0, high=1),
    row("normal.Tensor_Tensor", deviations, call=seeded("normal"), dtypes=FLOATS),
]  # fmt: skip

ROWS = [*COPIES, *FACTORIES, *RANDOM]
