"""Pooling as modules against torch's, on drawn arguments.

Mirrors: test/nn/test_pooling.py
"""

import contextlib
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reftorch


def drawn(seed: int) -> tuple[str, dict[str, Any], tuple[int, ...]]:
    """A module, its arguments, and the shape of an input."""
    rng = random.Random(seed)
    kind, dims = rng.choice(("MaxPool", "AvgPool", "LPPool", "AdaptiveAvgPool", "AdaptiveMaxPool")), rng.randint(1, 3)

    def numbers(low: int, high: int) -> Any:
        return rng.choice((rng.randint(low, high), tuple(rng.randint(low, high) for _ in range(dims))))

    options: dict[str, Any]
    if kind.startswith("Adaptive"):
        options = {"output_size": numbers(1, 9)}
    else:
        options = {"kernel_size": numbers(1, 4), "ceil_mode": rng.random() < 0.5}
        if rng.random() < 0.6:
            options["stride"] = numbers(1, 3)
        if kind == "LPPool" and dims == 1:  # takes no tuple
            options |= {"kernel_size": 3, "stride": 2}
        if kind == "LPPool":
            options["norm_type"] = rng.choice((1.0, 2.0, 3.0))
        else:
            options["padding"] = rng.randint(0, 1)
        if kind == "MaxPool":
            options["dilation"] = numbers(1, 2)
        if kind == "AvgPool":
            options["count_include_pad"] = rng.random() < 0.5
    batch = rng.choice(((2,), (2,), ()))
    return f"{kind}{dims}d", options, (*batch, 3, *(rng.randint(4, 8) for _ in range(dims)))


def run(lib: Any, name: str, options: dict[str, Any], shape: tuple[int, ...]) -> Any:
    module = getattr(lib.nn, name)(**options)
    x = (lib.arange(lib.Size(shape).numel(), dtype=lib.float64) * 0.7).sin().reshape(shape).requires_grad_()
    y = module(x)
    grad = lib.autograd.grad((y * y).sum(), x, create_graph=True)[0]
    second = lib.autograd.grad(grad.sum(), x)[0]
    return repr(module), tuple(y.shape), [t.detach().reshape(-1).tolist() for t in (y, grad, second)]


@pytest.mark.parametrize("seed", range(80))
def test_modules_equal_torch(seed: int, real_torch: Any) -> None:
    name, options, shape = drawn(seed)
    try:
        want = run(real_torch, name, options, shape)
    except RuntimeError as error:
        with pytest.raises(type(error)):
            run(reftorch, name, options, shape)
        return
    got = run(reftorch, name, options, shape)
    assert got[:2] == want[:2]
    for mine, other in zip(got[2], want[2], strict=True):
        assert mine == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling_is_the_way_back(dims: int, real_torch: Any) -> None:
    def there_and_back(lib: Any) -> Any:
        x = (lib.arange(2 * 3 * 4**dims, dtype=lib.float64) * 0.7).sin().reshape(2, 3, *(4,) * dims).requires_grad_()
        pool = getattr(lib.nn, f"MaxPool{dims}d")(2, return_indices=True)
        unpool = getattr(lib.nn, f"MaxUnpool{dims}d")(2)
        y, places = pool(x)
        results = [unpool(y, places), unpool(y, places, output_size=(5,) * dims)]
        gradient = lib.autograd.grad(sum((r * r * r).sum() for r in results), x)[0]
        return repr(unpool), places.tolist(), [r.tolist() for r in (*results, gradient)]

    got, want = there_and_back(reftorch), there_and_back(real_torch)
    assert got[:2] == want[:2]
    for mine, other in zip(got[2], want[2], strict=True):
        np.testing.assert_allclose(mine, other)  # a mistaken shape raises, too


@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_pooling_with_given_samples(dims: int, real_torch: Any) -> None:
    def pooled(lib: Any, **options: Any) -> Any:
        samples = (lib.arange(2 * 3 * dims, dtype=lib.float64) / (6 * dims)).reshape(2, 3, dims)
        module = getattr(lib.nn, f"FractionalMaxPool{dims}d")(
            2, return_indices=True, _random_samples=samples, **options
        )
        # by Python's sine, because the sines of the libraries may differ in the last bit
        values = [math.sin(0.7 * i) for i in range(2 * 3 * 7**dims)]
        x = lib.tensor(values, dtype=lib.float64).reshape(2, 3, *(7,) * dims)
        y, places = module(x)
        return y.tolist(), places.tolist()

    for options in ({"output_size": 3}, {"output_ratio": 0.5}):
        assert pooled(reftorch, **options) == pooled(real_torch, **options)
    for options in ({}, {"output_size": 3, "output_ratio": 0.5}, {"output_ratio": 1.5}):
        for lib in (reftorch, real_torch):
            with pytest.raises(ValueError):
                pooled(lib, **options)


def test_samples_out_of_range_do_not_crash() -> None:
    x = reftorch.ones(1, 1, 7, 7)
    for sample in (-9.0, 9.0, 1e30, float("nan"), float("inf")):
        y, places = reftorch._C._nn.fractional_max_pool2d(x, (2, 2), (3, 3), reftorch.full((1, 1, 2), sample))
        assert y.flatten().tolist() == [1.0] * 9
        assert 0 <= int(places.min()) <= int(places.max()) < 49


def test_indices_out_of_range_raise() -> None:
    for place in (-1, 16, 2**62):
        places = reftorch.full((1, 1, 2, 2), place)
        with pytest.raises(RuntimeError, match="Found an invalid max index"):
            reftorch.nn.functional.max_unpool2d(reftorch.ones(1, 1, 2, 2), places, 2)
        window = ((2, 2), (2, 2), (0, 0), (1, 1), False)
        with pytest.raises(RuntimeError, match="Found an invalid max index"):
            reftorch._C._nn.max_pool2d_with_indices_backward(
                reftorch.ones(1, 1, 2, 2), reftorch.ones(1, 1, 4, 4), *window, places
            )


def test_huge_arguments_do_not_crash() -> None:
    F, x = reftorch.nn.functional, reftorch.ones(1, 1, 4, 4)
    for options in (
        {"kernel_size": 2**62, "padding": 2**61},
        {"kernel_size": 2, "stride": 2**62},
        {"kernel_size": 2, "dilation": 2**62},
        {"kernel_size": 2**63 - 1, "padding": 2**62 - 1, "ceil_mode": True},
    ):
        with contextlib.suppress(RuntimeError):
            assert F.max_pool2d(x, **options).numel() == 1


def test_the_two_rungs_of_average_pooling_agree() -> None:
    """float32 goes tap by tap, bfloat16 window by window. The numbers are exact in both dtypes."""
    draw = random.Random(0)
    for _ in range(60):
        kernel, stride = ([draw.randint(1, 3), draw.randint(1, 3)] for _ in range(2))
        options = {
            "padding": [draw.randint(0, size // 2) for size in kernel],
            "ceil_mode": draw.random() < 0.5,
            "divisor_override": draw.choice([2, -4]),
        }
        x = reftorch.randint(-3, 4, (2, 2, draw.randint(3, 9), draw.randint(3, 9)))
        results = []
        for dtype in (reftorch.float32, reftorch.bfloat16):
            leaf = x.to(dtype).requires_grad_()
            y = reftorch.nn.functional.avg_pool2d(leaf, kernel, stride, **options)
            (gradient,) = reftorch.autograd.grad((y * y.detach().sign()).sum(), leaf)
            results.append((y.double(), gradient.double()))
        (y, gradient), (expected, expected_gradient) = results
        assert y.equal(expected) and gradient.equal(expected_gradient), (kernel, stride, options, x.shape)


# Windows, in three dimensions: average pooling does not count the padding, and a fractional window leaves one place.
WINDOWS: dict[str, Callable] = {
    "average": lambda F, x: F.avg_pool3d(x, 2),
    "average on the padding": lambda F, x: F.avg_pool3d(x, 2, padding=1),
    "average in two dimensions": lambda F, x: F.avg_pool2d(x[0], 2),
    "average of the right size": lambda F, x: F.avg_pool3d(x, 1),
    "norm": lambda F, x: F.lp_pool3d(x, 2, 2),
    "fractional": lambda F, x: F.fractional_max_pool3d(x.expand(1, 1, 4, 4, 4), 2, 3),
    "fractional of one element": lambda F, x: F.fractional_max_pool3d(x, 1, 1),
    "fractional in two dimensions": lambda F, x: F.fractional_max_pool2d(x[0].expand(1, 4, 4), 2, 3),
    "fractional of the right size": lambda F, x: F.fractional_max_pool3d(x.expand(1, 1, 4, 4, 4), 2, 2),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_windows_larger_than_the_input(case: str, real_torch: Any) -> None:
    found = []
    for lib in (reftorch, real_torch):
        try:
            found.append(tuple(WINDOWS[case](lib.nn.functional, lib.ones(1, 1, 1, 1, 1)).shape))
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]
