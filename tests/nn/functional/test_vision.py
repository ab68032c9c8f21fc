"""Functions on images against torch's, drawn over their options.

Mirrors: test/test_nn.py (TestNNDeviceType, interpolation and grids)
Leaves out: uint8 images.
"""

import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.utils.both import compare, gradients, tried

MODES = (
    "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear", "lanczos", "other",
)  # fmt: skip


def resized(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    mode, dims = rng.choice(MODES), rng.choice((1, 2, 2, 3))
    x = lib.randn(2, 2, *(rng.randint(1, 5) for _ in range(dims)), dtype=lib.float64).requires_grad_(True)
    options: dict[str, Any] = {"mode": mode, "align_corners": rng.choice((None, None, False, True))}
    options["antialias"] = rng.random() < 0.3
    options["recompute_scale_factor"] = rng.choice((None, None, True))
    kind = rng.choice(("size", "sizes", "factor", "factors", "both"))
    if kind in ("size", "both"):
        options["size"] = rng.randint(1, 6)
    if kind == "sizes":
        options["size"] = [rng.randint(1, 6) for _ in range(dims if rng.random() < 0.9 else dims + 1)]
    if kind in ("factor", "both"):
        options["scale_factor"] = rng.choice((2, 0.6, 1.3, 3.0))
    if kind == "factors":
        options["scale_factor"] = [rng.choice((2, 0.7, 1.5)) for _ in range(dims)]
    output = lib.nn.functional.interpolate(x, **options)
    return [output, *gradients(lib, output, [x])]


@pytest.mark.parametrize("seed", range(60))
def test_sizes_change_as_in_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: resized(lib, seed)), real_torch)


def sampled(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    dims = rng.choice((2, 2, 3))
    x = lib.randn(2, 2, *(rng.randint(1, 4) for _ in range(dims)), dtype=lib.float64).requires_grad_(True)
    theta = lib.randn(2, dims, dims + (1 if rng.random() < 0.9 else 0), dtype=lib.float64).requires_grad_(True)
    size, corners = [2, 2, *(rng.randint(1, 3) for _ in range(dims))], rng.choice((None, False, True))
    grid = lib.nn.functional.affine_grid(theta, size, corners)
    mode = rng.choice(("bilinear", "nearest", "bicubic", "bilinear", "other"))
    padding = rng.choice(("zeros", "border", "reflection", "reflection", "other"))
    output = lib.nn.functional.grid_sample(x, grid, mode, padding, corners)
    return [grid, output, list(lib.autograd.grad((output.cos() + output).sum(), [x, theta]))]


@pytest.mark.parametrize("seed", range(40))
def test_grids_are_read_as_in_torch(real_torch: ModuleType, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(lambda lib: tried(lambda: sampled(lib, seed)), real_torch)


def test_old_names_warn(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        found: list[Any] = []
        for name in ("upsample", "upsample_nearest", "upsample_bilinear"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found.append(getattr(lib.nn.functional, name)(lib.ones(1, 1, 2, 2), 3))
            found += [str(w.message) for w in caught]
        return found

    compare(program, real_torch)


@pytest.mark.parametrize(("mode", "expected"), [("bilinear", "[nan, nan, 0.0]"), ("nearest", "[0.0, 0.0, 0.0]")])
def test_a_place_that_is_not_finite_is_seen_in_the_result(mode: str, expected: str) -> None:
    """A weight of bilinear mode is NaN. The nearest pixel of a NaN lies outside, where the value is 0."""
    x = reftorch.arange(9.0).reshape(1, 1, 3, 3)
    grid = reftorch.tensor([float("nan"), 0.0, float("inf"), 0.0, 0.0, -1e30]).reshape(1, 1, 3, 2)
    assert str(reftorch.nn.functional.grid_sample(x, grid, mode, align_corners=False).tolist()) == f"[[[{expected}]]]"


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("mode", "ndim"), [("bilinear", 2), ("bicubic", 2), ("nearest", 2), ("bilinear", 3)])
def test_second_gradients_of_grid_sample(mode: str, ndim: int, padding_mode: str, align_corners: bool) -> None:
    x = (reftorch.arange(2 * 3**ndim, dtype=reftorch.float64) * 0.7).sin().reshape(1, 2, *(3,) * ndim)
    grid = (
        (reftorch.arange(ndim * 2**ndim, dtype=reftorch.float64) * 1.3 + 0.3)
        .sin()
        .mul(1.4)
        .reshape(1, *(2,) * ndim, ndim)
    )
    sample = reftorch.nn.functional.grid_sample
    assert reftorch.autograd.gradgradcheck(
        lambda x, grid: sample(x, grid, mode, padding_mode, align_corners),
        (x.requires_grad_(), grid.requires_grad_()),
    )
