"""Copies in another dtype, memory order or place.

Mirrors: test/test_tensor_creation_ops.py, test/test_torch.py (test_to, test_copy_, ...)
"""

import itertools
import platform
from types import ModuleType

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, assert_same_gradients, numbers

DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "bool")


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
def test_cast(source: str, target: str, real_torch: ModuleType) -> None:
    assert_same(lambda t: numbers(t, 3, 4, dtype=source).to(getattr(t, target)), real_torch)
    assert_same(lambda t: numbers(t, 3, 4, dtype=source).t()[:, 1:].to(getattr(t, target)), real_torch)


RESULTS: dict[str, Program] = {
    "clone": lambda t: [numbers(t, 2, 3).clone(), numbers(t, 2, 3).t().clone(), numbers(t).clone()],
    "clone of a part": lambda t: numbers(t, 4, 6)[:, ::2].t().clone(),
    "clone contiguous": lambda t: numbers(t, 2, 3).t().clone(memory_format=t.contiguous_format),
    "contiguous": lambda t: numbers(t, 2, 3).t().contiguous(),
    "channels_last": lambda t: numbers(t, 2, 3, 4, 5).contiguous(memory_format=t.channels_last),
    "to format": lambda t: numbers(t, 2, 3, 4, 5).to(memory_format=t.channels_last),
    "to other": lambda t: numbers(t, 2).to(t.zeros(1, dtype=t.int32)),
    "to device": lambda t: numbers(t, 2).to("cpu", t.float64),
    "to keywords": lambda t: numbers(t, 2).to(dtype=t.float64, copy=True),
    "type_as": lambda t: numbers(t, 2).type_as(t.zeros(1, dtype=t.int8)),
    "shorthands": lambda t: [
        getattr(numbers(t, 2), name)()
        for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool", "cpu")
    ],
    "copy_": lambda t: [t.zeros(2, 3).copy_(numbers(t, 3)), t.zeros(2, 2, dtype=t.int64).copy_(numbers(t, 2, 2))],
    "copy_ into a part": lambda t: t.zeros(4, 4)[1::2, :3].copy_(numbers(t, 2, 3)),
    "large floats": lambda t: t.tensor([3e9, -3e9, 300.0, -1.0]).to(t.int32),
    "rounding": lambda t: [
        t.tensor([1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 65520.0, 2**-25]).to(t.float16),
        t.tensor([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38]).to(t.bfloat16),
    ],
    "nan": lambda t: t.tensor([float("nan"), 0.0, float("inf")]).to(t.bool),
    "inverted": lambda t: [~t.tensor([1, 0]), ~t.tensor([True, False])],
    "copy of a number": lambda t: [t.ones(2).copy_(3), t.ones(2, dtype=t.int64).copy_(2.5)],
    "with a memory format": lambda t: t.ones(1, 2, 3, 4).double(memory_format=t.channels_last),
}

ERRORS: dict[str, Program] = {
    "copy_ sizes": lambda t: t.zeros(3).copy_(t.zeros(4)),
    "copy_ more dimensions": lambda t: t.zeros(3).copy_(t.zeros(2, 3)),
    "copy_ to expanded": lambda t: t.zeros(1).expand(3).copy_(t.zeros(3)),
    "channels_last": lambda t: t.zeros(3).to(memory_format=t.channels_last),
    "inverted float": lambda t: ~t.ones(2),
}


# C++ and PyTorch leave open what becomes of a float that no number of the type holds, so the processor decides: x86-64
# gives the smallest number, arm64 the nearest one, and 0 for NaN. Torch's stored answers are those of x86-64.
NO_SUCH_INTEGER = {
    "x86_64": [-(2**31), -(2**31), -(2**31), -(2**31)],
    "aarch64": [2**31 - 1, -(2**31), 2**31 - 1, 0],
}


def test_floats_that_no_integer_holds() -> None:
    floats = reftorch.tensor([3e9, -3e9, float("inf"), float("nan")])
    assert floats.to(reftorch.int32).tolist() == NO_SUCH_INTEGER[platform.machine()]


@pytest.mark.parametrize("name", [n for n in RESULTS if n != "large floats" or platform.machine() == "x86_64"])
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_nothing_to_do_is_self() -> None:
    x = reftorch.ones(2, 3)
    assert x.to(reftorch.float32) is x
    assert x.contiguous() is x
    assert x.to("cpu") is x
    assert x.float() is x
    assert x.to(reftorch.float32, copy=True) is not x


def test_cast_gradient(real_torch: ModuleType) -> None:
    assert_same_gradients(lambda t, x: x.to(t.float32).to(t.float64) ** 2, real_torch, (2, 3))


def test_gradient_comes_back_in_the_dtype_of_the_input() -> None:
    x = reftorch.ones(3, requires_grad=True)
    x.double().sum().backward()
    assert x.grad.dtype == reftorch.float32


def test_copy_gradient(real_torch: ModuleType) -> None:
    def program(t, x, y):
        z = x.clone()
        z[1:].copy_(y)
        return z * z

    assert_same_gradients(program, real_torch, (3, 2), (2,))


def test_fill_cuts_the_gradient() -> None:
    x = reftorch.ones(4, requires_grad=True)
    y = x * 2
    y[:2].fill_(5)
    y[2:3].zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 2]


def test_a_conversion_is_no_factory() -> None:
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
        reftorch.ones(2).to(dtype=reftorch.float64, requires_grad=True)  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 9), (3, 40), (8, 8), (7, 300), (33, 65), (40, 3), (2, 17, 9), (9, 8, 31)])
def test_copies_of_turned_tensors(dtype: str, shape: tuple[int, ...]) -> None:
    """Tiles, whole rows and single elements, whole and cut off, move every element to its place."""
    x = reftorch.randint(0, 100, shape).to(getattr(reftorch, dtype))
    for order in itertools.permutations(range(len(shape))):
        turned = x.permute(order)
        want = x.numpy().transpose(order)
        assert (turned.contiguous().numpy() == want).all()
        part = turned[..., 1:]
        assert (part.contiguous().numpy() == want[..., 1:]).all()
        target = reftorch.zeros([2 * size for size in turned.shape], dtype=x.dtype)
        corner = target[tuple(slice(None, size) for size in turned.shape)]
        corner.copy_(turned)
        assert (corner.numpy() == want).all() and target.double().sum() == x.double().sum()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
def test_copies_of_stretched_tensors(dtype: str) -> None:
    x = reftorch.randint(0, 100, (30, 1, 20)).to(getattr(reftorch, dtype))
    for shape in ((30, 3, 20), (30, 40, 20)):
        assert (x.expand(shape).contiguous().numpy() == x.numpy().repeat(shape[1], 1)).all()
    columns = x.transpose(1, 2)
    for width in (2, 3, 50):
        assert (columns.expand(30, 20, width).contiguous().numpy() == columns.numpy().repeat(width, 2)).all()
