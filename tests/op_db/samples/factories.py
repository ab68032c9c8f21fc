"""Calls that make new tensors, with a seed where they draw numbers.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import DTYPES, DType, Inputs, Library, OpInfo, Sample


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, **{"dtypes": DTYPES, **options})


def calls(*arguments: tuple[Any, ...]) -> Any:
    """The op without a tensor; the dtype is an argument."""

    def samples(make: Inputs) -> Iterator[Sample]:
        for positional in arguments:
            yield Sample(positional, {"dtype": DType(make.dtype)})
            yield Sample(positional)

    return samples


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


def seeded(name: str) -> Callable[..., Any]:
    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        lib.manual_seed(17)
        return _call(lib, name, *args, **kwargs)

    return call


def _call(lib: Library, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(lib, name)(*args, **kwargs) if hasattr(lib, name) else getattr(args[0], name)(*args[1:], **kwargs)
