"""A row of the table, and the inputs it describes without a library: both libraries build the same tensors from them.

Mirrors: torch/testing/_internal/opinfo/core.py
Leaves out: decorators, skips, per-device dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

FLOATS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
NAN, INF = float("nan"), float("inf")
DTYPES = (*FLOATS, *INTEGERS, "bool")

Library = Any  # torch or reftorch


@dataclass(frozen=True)
class Input:
    """A tensor to be: values, dtype and how it lies in memory."""

    values: np.ndarray
    dtype: str
    layout: str = "contiguous"  # or transposed, rolled, strided, sliced, expanded
    requires_grad: bool = False

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    def build(self, lib: Library) -> Any:
        t = _from_values(lib, _LAYOUTS[self.layout][0](self.values), self.dtype)
        t = _LAYOUTS[self.layout][1](t, self.values.shape)
        assert tuple(t.shape) == self.values.shape
        return t.requires_grad_() if self.requires_grad and self.is_float else t


def _from_values(lib: Library, values: np.ndarray, dtype: str) -> Any:
    known_to_numpy = "float32" if dtype == "bfloat16" else dtype
    t = lib.from_numpy(np.array(values, dtype=known_to_numpy, order="C"))
    return t.to(getattr(lib, dtype)) if dtype == "bfloat16" else t


def _twice_along_each(values: np.ndarray) -> np.ndarray:
    for axis in range(values.ndim):
        values = np.repeat(values, 2, axis=axis)
    return values


# (what to store, how to look at it)
_LAYOUTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "contiguous": (lambda v: v, lambda t, shape: t),
    "transposed": (lambda v: v.swapaxes(0, -1), lambda t, shape: t.transpose(0, -1)),
    "rolled": (lambda v: np.moveaxis(v, 0, -1), lambda t, shape: t.movedim(-1, 0)),
    "strided": (lambda v: np.repeat(v, 2, axis=-1), lambda t, shape: t[..., ::2]),
    # gaps everywhere, so that a dimension of size 1 has a stride of its own, and not from the start of the memory
    "sliced": (lambda v: _twice_along_each(v), lambda t, shape: t[(slice(1, None, 2),) * len(shape)]),
    "expanded": (lambda v: v[:1], lambda t, shape: t.expand(shape)),
}


@dataclass(frozen=True)
class Sample:
    """One call. Inputs stand where tensors go, in lists too."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def build(self, lib: Library) -> tuple[tuple[Any, ...], dict[str, Any]]:
        def fill(value: Any) -> Any:
            if isinstance(value, Input):
                return value.build(lib)
            if isinstance(value, DType):
                return getattr(lib, value.name)
            if isinstance(value, (list, tuple)):
                return type(value)(fill(item) for item in value)
            return value

        return tuple(fill(a) for a in self.args), {name: fill(value) for name, value in self.kwargs.items()}

    def requiring_grad(self) -> Sample:
        """The same call with a gradient wanted for every floating tensor."""

        def fill(value: Any) -> Any:
            if isinstance(value, Input):
                return replace(value, requires_grad=True)
            if isinstance(value, (list, tuple)):
                return type(value)(fill(item) for item in value)
            return value

        return Sample(tuple(fill(a) for a in self.args), self.kwargs)

    def __str__(self) -> str:
        def show(value: Any) -> str:
            if isinstance(value, Input):
                layout = "" if value.layout == "contiguous" else " " + value.layout
                return f"{value.dtype}{list(value.values.shape)}{layout}"
            return repr(value)

        return ", ".join([*map(show, self.args), *(f"{name}={show(value)}" for name, value in self.kwargs.items())])


@dataclass(frozen=True)
class DType:
    """A dtype as an argument."""

    name: str


class Inputs:
    """Makes inputs of one dtype, the same ones every time."""

    def __init__(self, dtype: str, low: float = -3, high: float = 3) -> None:
        self.dtype = dtype
        self.low, self.high = low, high
        self._random = np.random.default_rng(2024)

    def __call__(
        self,
        *shape: int,
        layout: str = "contiguous",
        dtype: str | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> Input:
        dtype = dtype or self.dtype
        low, high = (self.low if low is None else low), (self.high if high is None else high)
        if dtype in FLOATS:
            values = self._random.uniform(low, high, shape)
        elif dtype == "bool":
            values = self._random.integers(0, 2, shape).astype(bool)
        else:
            low = max(low, 0) if dtype == "uint8" else low
            values = self._random.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape)
        if layout == "expanded":
            values = np.broadcast_to(values[:1], shape)
        return Input(np.asarray(values), dtype, layout)

    def of(self, *values: Any, dtype: str | None = None) -> Input:
        """Given values; what the dtype cannot hold becomes what it can."""
        dtype = dtype or self.dtype
        array = np.array(values, dtype=float)
        if dtype not in FLOATS:
            array = np.nan_to_num(array, nan=0, posinf=3, neginf=-3).clip(0 if dtype == "uint8" else -3, 3)
            array = array.astype(dtype)
        return Input(array, dtype)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


Samples = Callable[[Inputs], Iterable[Sample]]


@dataclass(frozen=True)
class Apart:
    """Calls on which the libraries differ and ours is not to follow: ``make parity`` prints how many, and why.

    Only what differs is left out: a call that is the same in both is compared, whatever stands here.
    """

    why: str
    says: str = ""  # words of the difference, such as those of torch's error
    when: Callable[[Sample], bool] = lambda sample: True
    crashes: bool = False  # torch does not survive such a call: it is not made

    def covers(self, sample: Sample, difference: str) -> bool:
        return self.says in difference and self.when(sample)


def _has_nan_of_bfloat16(sample: Sample) -> bool:
    inputs = [a for a in sample.args if isinstance(a, Input) and a.dtype == "bfloat16"]
    return any(bool(np.isnan(a.values).any()) for a in inputs)


STRIDE_OF_ONE = Apart(
    "torch keeps what strides of dimensions of size 1 there were",
    when=lambda s: 1 in s.args[0].values.shape,
    says="strides",
)

NAN_OF_BFLOAT16 = Apart("torch gives NaN in bfloat16 other bits where it converts several", when=_has_nan_of_bfloat16)


@dataclass(frozen=True)
class OpInfo:
    """What the tests need to know of an op.

    ``ops`` are the overloads that the samples reach, by their names in the Dispatcher. Which dtypes an op takes is
    asked of torch, where it is there; ``dtypes`` are those that work without asking.
    """

    ops: str
    samples: Samples
    dtypes: tuple[str, ...] = FLOATS
    low: float = -3
    high: float = 3
    call: Callable[..., Any] | None = None  # (lib, *args, **kwargs); default: the function of the op's name
    # Each of these says what is NOT there, or not comparable; the tests verify it.
    gradcheck: bool = True  # False: the formula differs from the differences (rounding), or is none of them twice
    gradgradcheck: bool = True  # False: there is no second derivative
    gradient: bool = True  # False: the gradients differ, or which results have one; gradcheck is what holds ours
    torch_gradient: bool = True  # False: torch has none, we do
    out: bool = True  # False: torch takes out=, we do not
    inplace: bool = True  # False: torch has the in-place form, we do not
    rtol: float | None = None  # for float32 and wider, where digits are lost by design
    ref: Callable[..., Any] | None = (
        None  # numpy's function of the same arguments: the reference where there is no torch
    )
    apart: tuple[Apart, ...] = ()  # for drawn calls only: the row's own samples are the same in both

    @property
    def name(self) -> str:
        return self.ops.split()[0]

    @property
    def function(self) -> str:
        return self.name.split(".")[0]

    def inputs(self, dtype: str) -> Inputs:
        return Inputs(dtype, self.low, self.high)

    def each(self, dtype: str) -> Iterator[Sample]:
        yield from self.samples(self.inputs(dtype))

    def run(self, lib: Library, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.call is not None:
            return self.call(lib, *args, **kwargs)
        for space in (lib, lib._C._nn, lib._C._linalg, lib._C._special):
            if hasattr(space, self.function):
                return getattr(space, self.function)(*args, **kwargs)
        return getattr(args[0], self.function)(*args[1:], **kwargs)
