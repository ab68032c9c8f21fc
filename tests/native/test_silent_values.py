"""Results that looked like ordinary numbers and were wrong: signs of zero, NaN, overflow, sizes that wrap around.

Mirrors: test/test_unary_ufuncs.py (signed zeros), test/test_torch.py (renorm, arange), test/test_nn.py (pixel_shuffle)
Leaves out: grid_sample (test_grid_sampler.py), bools of other bytes (test_bool_bytes.py).
"""

import math
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked

NAN, INF = math.nan, math.inf
UNARY = (
    "abs neg sin tan sinh tanh asin asinh atan atanh expm1 log1p sqrt erf erfinv ceil floor trunc round frac sign "
    "deg2rad rad2deg relu"
)
SPECIAL = "entr erfcx i1 i1e sinc ndtr log_ndtr bessel_j1"
FUNCTIONAL = "gelu silu mish elu selu celu softsign tanhshrink hardswish leaky_relu relu6 hardtanh"


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_unary_functions_keep_the_sign_of_zero(dtype: str, real_torch: Any) -> None:
    """One element takes the loop of single elements, forty the loop of vector instructions."""

    def signs(torch: Any) -> list[tuple[str, bool, bool]]:
        found = []
        functions = {name: getattr(torch, name) for name in UNARY.split()}
        functions |= {name: getattr(torch.special, name) for name in SPECIAL.split()}
        functions |= {name: getattr(torch.nn.functional, name) for name in FUNCTIONAL.split()}
        for name, function in functions.items():
            for n in (1, 40):
                zero = torch.full((n,), -0.0, dtype=getattr(torch, dtype))
                try:
                    found.append((name, *(torch.signbit(function(x)).all().item() for x in (zero, -zero))))
                except (RuntimeError, NotImplementedError):
                    found.append((name, True, True))  # the dtype is refused
        return found

    assert signs(reftorch) == asked(real_torch, signs)


def test_renorm_of_float16_has_norms_larger_than_float16(real_torch: Any) -> None:
    def rows(torch: Any) -> list[list[float]]:
        x = torch.tensor([[60000.0, 60000.0], [3.0, 4.0], [0.1, 0.1]], dtype=torch.float16)
        return [row for p in (1, 2, INF) for row in torch.renorm(x, p, 0, 1.0).mul(50).round().tolist()]

    assert rows(reftorch) == asked(real_torch, rows)


def test_arange_over_all_of_int64() -> None:
    low, high = -(2**63), 2**63 - 1
    assert reftorch.arange(low, high, 2**62).tolist() == list(range(low, high, 2**62))
    assert reftorch.arange(high, low, -(2**62)).tolist() == list(range(high, low, -(2**62)))
    assert reftorch.arange(low, high, high).tolist() == [low, -1, high - 1]
    assert reftorch.arange(high, low, low).tolist() == [high, -1]
    with pytest.raises(RuntimeError, match="possible overflow"):
        reftorch.arange(low, high)
    whole = reftorch.ops.aten.range.step(low, high, 2**62, dtype=reftorch.int64)
    assert whole.tolist() == list(range(low, high + 1, 2**62))
    near = reftorch.ops.aten.range.step(2**60, 2**60 + 2, dtype=reftorch.int64)  # equal as doubles
    assert near.tolist() == [2**60, 2**60 + 1, 2**60 + 2]


def test_sizes_of_pixel_shuffle_do_not_wrap_around() -> None:
    shuffle, unshuffle = reftorch.nn.functional.pixel_shuffle, reftorch.nn.functional.pixel_unshuffle
    for factor in (2**32, 2**62, 2**63 - 1):
        for channels in (0, 4):
            with pytest.raises(ValueError, match="upscale factor is too large"):
                shuffle(reftorch.ones(1, channels, 1, 1), factor)
        with pytest.raises(RuntimeError, match="overflow"):
            unshuffle(reftorch.ones(1, 4, 0, 0), factor)


@pytest.mark.parametrize("size", [(2**63 - 1, 2, 2), (2, 2, 2**63 - 1), (2**62, 2, 2)])
def test_windows_of_fractional_pooling_do_not_wrap_around(size: tuple[int, ...]) -> None:
    x, samples = reftorch.ones(1, 1, 5, 5, 5), reftorch.zeros(1, 1, 3)
    for kernel, output in ((size, (1, 1, 1)), ((1, 1, 1), size), (size, size)):
        with pytest.raises(RuntimeError, match=r"too large|overflow|out of range"):
            reftorch.nn.functional.fractional_max_pool3d(x, kernel, output, _random_samples=samples)


def test_a_nan_in_a_matrix_is_not_hidden(real_torch: Any) -> None:
    def results(torch: Any) -> list[bool]:
        found = []
        for place in range(9):
            a = torch.tensor([[4.0, 1.0, 2.0], [3.0, 4.0, 1.0], [1.0, 5.0, 7.0]])
            a.view(-1)[place] = NAN
            found += [torch.linalg.solve(a, torch.ones(3)).isnan().all().item(), torch.det(a).isnan().item()]
            found += [torch.linalg.inv(a).isnan().any().item(), torch.linalg.lu_factor(a)[0].isnan().any().item()]
        return found

    assert results(reftorch) == asked(real_torch, results)
    wide = reftorch.linalg.lu_factor(reftorch.tensor([[NAN, 1.0, 2.0], [3.0, 4.0, 1.0]]))[0]
    tall = reftorch.linalg.lu_factor(reftorch.tensor([[NAN, 1.0], [3.0, 4.0], [1.0, 5.0]]))[0]
    assert wide[1].isnan().all() and tall[1:].isnan().all() and wide[0, 1:].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("p", [0.0, 1.0, INF])
def test_a_nan_in_a_point_is_not_hidden_by_its_distances(p: float, real_torch: Any) -> None:
    def results(torch: Any) -> list[list[bool]]:
        x = torch.tensor([[0.0, NAN], [1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        distance = torch.pdist(x, p)
        (grad,) = torch.autograd.grad(distance.sum(), x)
        return [distance.isnan().tolist(), *grad.isnan().tolist()]

    assert results(reftorch) == asked(real_torch, results)


def test_gradients_of_products_with_zeros_take_little_memory() -> None:
    """The products without each element were n * n numbers: 6.4 GB here."""
    for name in ("prod", "cumprod"):
        x = reftorch.ones(40_000)
        x[5] = 0
        x.requires_grad_()
        getattr(x, name)(0).sum().backward()
        assert x.grad is not None and x.grad[5].item() == (1 if name == "prod" else 39_995)


@pytest.mark.parametrize("zeros", [[], [0], [2], [4], [1, 3], [0, 4], [0, 1, 2, 3, 4]])
def test_gradients_of_products_with_zeros(zeros: list[int]) -> None:
    x = reftorch.tensor([1.5, -2.0, 0.5, 3.0, -1.25], dtype=reftorch.float64)
    x[zeros] = 0
    x.requires_grad_()
    for function in (lambda t: t.prod(), lambda t: t.prod(0), lambda t: t.cumprod(0), lambda t: t[:1].cumprod(0)):
        assert reftorch.autograd.gradcheck(function, x) and reftorch.autograd.gradgradcheck(function, x)


SECOND: dict[str, Any] = {
    "cdist": lambda t, p: reftorch.cdist(t, t, p).pow(2),
    "cdist by products": lambda t, p: reftorch.cdist(t, t, compute_mode="use_mm_for_euclid_dist").pow(2),
    "pdist": lambda t, p: reftorch.pdist(t, p).pow(2),
    "dist": lambda t, p: reftorch.dist(t[0], t[1], p).pow(2),
    "norm": lambda t, p: (t[0] - t[1]).norm(p).pow(2),
    "norm of rows": lambda t, p: (t - t[:1]).norm(p, 1).pow(2),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, INF])
def test_second_derivatives_are_numbers_where_points_coincide(name: str, p: float) -> None:
    x = reftorch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]], dtype=reftorch.float64, requires_grad=True)
    (grad,) = reftorch.autograd.grad(SECOND[name](x, p).sum(), x, create_graph=True)
    assert grad.isfinite().all()
    (second,) = reftorch.autograd.grad(grad.pow(2).sum(), x, allow_unused=True)
    assert second is None or second.isfinite().all()


def test_the_gradient_of_renorm_of_float16() -> None:
    x = reftorch.tensor([[60000.0, 60000.0], [3.0, 4.0]], dtype=reftorch.float16, requires_grad=True)
    wide = x.detach().float().requires_grad_()
    for t in (x, wide):
        (reftorch.renorm(t, 2, 0, 1.0) * reftorch.tensor([1.0, -1.0], dtype=t.dtype)).sum().backward()
    assert x.grad is not None and wide.grad is not None
    assert reftorch.allclose(x.grad.float(), wide.grad, rtol=2e-3, atol=1e-6)
