"""Functions of lists of tensors.

Mirrors: torch/testing/_internal/common_methods_invocations.py (foreach_unary_op_db, foreach_binary_op_db, ...)
"""

from collections.abc import Iterator
from typing import Any

from tests.op_db.core import Inputs, OpInfo, Sample

SHAPES = ((2, 3), (1,), (4,))


def lists(count: int, *more: Any, low: float | None = None, **options: Any) -> Any:
    """``count`` lists of tensors of the same shapes, whose elements are at least ``low``, then further arguments."""

    def samples(make: Inputs) -> Iterator[Sample]:
        values = [[make(*shape, low=low) for shape in SHAPES] for _ in range(count)]
        yield Sample((*values, *more), options)
        yield Sample((*([one[0]] for one in values), *more), options)

    return samples


def with_numbers(count: int, numbers: tuple[float, ...] = (2, 0.5, -1), low: float | None = None) -> Any:
    """``count`` lists of tensors, then one list with a number for each tensor."""

    def samples(make: Inputs) -> Iterator[Sample]:
        yield Sample((*([make(*shape, low=low) for shape in SHAPES] for _ in range(count)), list(numbers)))
        yield Sample((*([make(2, 3, low=low)] for _ in range(count)), [numbers[0]]))

    return samples


def with_numbers_in_a_tensor(make: Inputs) -> Iterator[Sample]:
    values = [[make(*shape, low=1.0) for shape in SHAPES] for _ in range(3)]
    yield Sample((*values, make.of(2, 3, -1, dtype="int64")))


def with_a_tensor(low: float | None = None, **options: Any) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        yield Sample(([make(*shape) for shape in SHAPES], make(low=low)), options)

    return samples


def scalar_and_list(make: Inputs) -> Iterator[Sample]:
    yield Sample((2.5, [make(*shape) for shape in SHAPES]))


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    # The op for one tensor has its own row, with every dtype; what a row here adds is the loop.
    return OpInfo(ops, samples, dtypes=("float64", "float32", "int64"), inplace=False, out=False, **options)


UNARY = ("abs", "exp", "neg", "sign")
POSITIVE = ("reciprocal", "rsqrt", "sqrt")
ROWS = [
    *(row(f"_foreach_{name}", lists(1)) for name in UNARY),
    *(row(f"_foreach_{name}", lists(1, low=1.0)) for name in POSITIVE),
    row("_foreach_clone", lists(1), call=lambda lib, x: lib.ops.aten._foreach_clone(x)),
    row("_foreach_norm.Scalar", lists(1, 2.0)),
    *(row(f"_foreach_{name}.Scalar", lists(1, 2)) for name in ("add", "sub", "mul", "div")),
    *(row(f"_foreach_{name}.List", lists(2, alpha=2)) for name in ("add", "sub")),
    row("_foreach_mul.List", lists(2)),
    row("_foreach_div.List", lists(2, low=1.0)),
    # torch raises an error in the backward pass of .Tensor forms and of addcdiv if the list has several tensors.
    row("_foreach_add.Tensor", with_a_tensor(alpha=2), torch_gradient=False),
    row("_foreach_mul.Tensor", with_a_tensor(), torch_gradient=False),
    row("_foreach_div.Tensor", with_a_tensor(low=1.0), torch_gradient=False),
    *(row(f"_foreach_{name}.Scalar", lists(1, 1)) for name in ("clamp_min", "clamp_max", "maximum", "minimum")),
    *(row(f"_foreach_{name}.List", lists(2)) for name in ("clamp_min", "clamp_max", "maximum", "minimum")),
    row("_foreach_pow.Scalar", lists(1, 2)),
    row("_foreach_pow.List", lists(2, low=1.0)),
    row("_foreach_pow.ScalarAndTensor", scalar_and_list),
    *(row(f"_foreach_{name}.ScalarList", with_numbers(1)) for name in ("add", "sub", "mul", "div")),
    *(row(f"_foreach_{name}.ScalarList", with_numbers(1)) for name in ("clamp_min", "clamp_max", "maximum", "minimum")),
    row("_foreach_pow.ScalarList", with_numbers(1, (2, 0.5, 3), low=1.0)),
    row("_foreach_addcmul.ScalarList", with_numbers(3)),
    row("_foreach_addcdiv.ScalarList", with_numbers(3, low=1.0), torch_gradient=False),
    row("_foreach_lerp.ScalarList", with_numbers(2)),
    # torch has no derivative of these two overloads.
    row("_foreach_addcmul.Tensor", with_numbers_in_a_tensor, torch_gradient=False),
    row("_foreach_addcdiv.Tensor", with_numbers_in_a_tensor, torch_gradient=False),
    row("_foreach_addcmul.Scalar", lists(3, 2)),
    row("_foreach_addcdiv.Scalar", lists(3, 2, low=1.0), torch_gradient=False),
    row("_foreach_lerp.Scalar", lists(2, 0.25)),
    row("_foreach_lerp.List", lists(3)),
]
