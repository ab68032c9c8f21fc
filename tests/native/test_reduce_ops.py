"""Reductions against torch's, over every dtype, layout and set of dimensions.

Mirrors: test/test_reductions.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.native.differential import assert_same, numbers
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference

pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")


class TestRows(OpTestsWithReference):
    FAMILIES = "reduce_ops reduce_extrema_ops cumulative_ops integration correlation distance"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_product_in_16_bits_is_rounded_at_each_factor(dtype: str, real_torch: Any) -> None:
    def products(t: Any) -> Any:
        x = (numbers(t, 20, 30) / 6 + 1).to(getattr(t, dtype))
        return [x.prod(0), x.prod(1), x.t().prod(1), x[:, 3].prod(), x[0].prod(), x.prod(1, keepdim=True)]

    assert_same(products, real_torch, rtol=0, atol=0)
    for factors in ((300.0, 300.0, 0.001), (300.0, 300.0, 0.0)):  # what overflows stays so
        assert_same(lambda t, f=factors: t.tensor(f, dtype=getattr(t, dtype)).prod(), real_torch, rtol=0, atol=0)


def nothing(t: Any) -> Any:
    return t.ones(0, 3)


ERRORS = [
    (
        lambda t: t.norm(t.ones(0), float("inf")),
        RuntimeError,
        "linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation does not have an",
    ),
    (
        lambda t: t.ones(2).long().norm(),
        RuntimeError,
        "linalg.vector_norm: Expected a floating point or complex tensor",
    ),
    (lambda t: t.ones(2).norm("foo"), RuntimeError, "linalg.matrix_norm: Order foo not supported."),
    (
        lambda t: t.ones(2).nanmean(dtype=t.int64),
        RuntimeError,
        "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got",
    ),
    (
        lambda t: t.nanmean(t.ones(2, dtype=t.int64), out=t.empty(0)),
        RuntimeError,
        "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.",
    ),
    (lambda t: t.tensor([1]).nanmean(), RuntimeError, "nanmean(): expected input to have floating point or complex"),
    (lambda t: t.tensor([1]).logcumsumexp(0), NotImplementedError, '"logcumsumexp_out_cpu" not implemented for'),
    (lambda t: t.ones(0).aminmax(), RuntimeError, "aminmax(): cannot compute aminmax over an empty dimension as the"),
    (
        lambda t: t.cumulative_trapezoid(t.tensor(True), t.tensor(True)),
        RuntimeError,
        "cumulative_trapezoid: received a bool input for `x` or `y`, but bool is not supported",
    ),
    (
        lambda t: t.trapezoid(t.tensor([[True]]), t.tensor([[True]])),
        RuntimeError,
        "trapezoid: received a bool input for `x` or `y`, but bool is not supported",
    ),
    (lambda t: t.ones(2).diff(-1), RuntimeError, "order must be non-negative but got -1"),
    (lambda t: t.cdist(t.ones(2, 3), t.ones(2, 2)), RuntimeError, "X1 and X2 must have the same number of columns."),
    (lambda t: t.ones(2).renorm(2, 0, 1), RuntimeError, "renorm: input needs at least 2 dimensions, got 1 dimensions"),
    (lambda t: t.cross(t.ones(2, 3), t.ones(2, 3), 0), RuntimeError, "linalg.cross: inputs dimension 0 must have"),
    (lambda t: t.ones(1, 2, 2).cov(), RuntimeError, "cov(): expected input to have two or fewer dimensions but got an"),
    (
        lambda t: nothing(t).max(),
        RuntimeError,
        "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim",
    ),
    (
        lambda t: nothing(t).amin(),
        RuntimeError,
        "amin(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim",
    ),
    (lambda t: nothing(t).max(0), IndexError, "max(): Expected reduction dim 0 to have non-zero size."),
    (
        lambda t: nothing(t).argmax(),
        IndexError,
        "argmax(): Expected reduction dim to be specified for input.numel() == 0.",
    ),
    (lambda t: nothing(t).argmin(0), IndexError, "argmin(): Expected reduction dim 0 to have non-zero size."),
    (lambda t: t.tensor([True]).argmax(), RuntimeError, "argmax(): does not support bool input"),
    (
        lambda t: t.tensor([1]).mean(),
        RuntimeError,
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long",
    ),
    (
        lambda t: t.ones(1).mean(dtype=t.int64),
        RuntimeError,
        "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype.",
    ),
    (lambda t: t.tensor([1]).var(), RuntimeError, "std and var only support floating point and complex dtypes"),
    (
        lambda t: t.ones(2, 3).sum(2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (lambda t: t.ones(2, 3).sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    (
        lambda t: t.all(t.ones(2), out=t.ones((), dtype=t.int64)),
        RuntimeError,
        "all only supports bool tensor for result, got: Long",
    ),
    (
        lambda t: t.amax(t.ones(2), 0, out=t.ones((), dtype=t.int64)),
        RuntimeError,
        "Expected the dtype for input and out to match, but got Float for input's dtype and Long for out's dtype.",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_long_sums_keep_their_digits(dtype: str) -> None:
    values = np.random.default_rng(0).uniform(0.5, 1.5, 300_001).astype(np.float32)
    x = reftorch.from_numpy(values).to(getattr(reftorch, dtype))
    exact = x.double().sum().item()
    assert abs(x.to(reftorch.float32).sum().item() - exact) < 1e-6 * exact
    columns = x[:300_000].reshape(-1, 3).to(reftorch.float32)
    np.testing.assert_allclose(columns.sum(0).numpy(), columns.double().sum(0).numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [(), (1,), ("fro",), (None,), (2, 0), (2, (0, 1)), ("fro", 1), (float("inf"), 1, True), (3, None, True)],
)
def test_norm(arguments: Any, real_torch: Any) -> None:
    values = [[3.0, -4.0, 0.0], [1.0, 2.0, 2.0]]
    for lib in (reftorch, real_torch):
        assert lib.norm(lib.tensor(values), *arguments).tolist() == lib.tensor(values).norm(*arguments).tolist()
    ours, theirs = (lib.norm(lib.tensor(values), *arguments) for lib in (reftorch, real_torch))
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
    out = reftorch.empty(0)
    assert reftorch.norm(reftorch.tensor(values), *arguments, out=out) is out
    assert out.tolist() == ours.tolist()
    assert reftorch.tensor(values).norm(*arguments[:2], dtype=reftorch.float64).dtype == reftorch.float64


def test_named_results() -> None:
    result = reftorch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(dim=1)
    assert result.values.tolist() == [3.0, 4.0]
    assert result.indices.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_variance_of_dense_and_of_strided_elements(dtype: str) -> None:
    """Dense blocks take two passes, strided elements one; both find a small spread around a large mean."""
    values = np.random.default_rng(1).standard_normal(30_001) + (1e6 if dtype == "float64" else 100)
    x = reftorch.from_numpy(values).to(getattr(reftorch, dtype))
    apart = reftorch.stack([x, x], 1)[:, 0]
    assert not apart.is_contiguous()
    exact = np.var(x.double().numpy(), ddof=1)
    for got in (x.var(), apart.var(), reftorch.stack([x, x], 1).var(0)[0]):
        np.testing.assert_allclose(got.double().item(), exact, rtol=1e-9 if dtype == "float64" else 2e-3)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_place_of_an_extremum_in_long_rows(name: str) -> None:
    """Rows are searched block by block, columns element by element; the first of equals, and NaN before all."""
    values = np.random.default_rng(2).integers(-5, 5, (20, 300)).astype(np.float32)
    values[3, 200:] = np.nan
    values[4, 299] = 9 if name == "argmax" else -9
    x = reftorch.from_numpy(values)
    want = getattr(np, name)(values, axis=1)
    assert getattr(x, name)(1).tolist() == want.tolist()
    assert getattr(x.t().contiguous(), name)(0).tolist() == want.tolist()


def test_truth_is_written_as_bytes_too(real_torch_or_none: Any) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        out = t.empty(2, dtype=t.uint8)
        assert t.all(t.tensor([[1.0, 0.0], [2.0, 3.0]]), 1, out=out).tolist() == [0, 1]
        assert t.any(t.tensor([[0, 0], [2, 3]]), 1, out=out).tolist() == [0, 1]
        assert t.all(t.zeros(2, 0).bool(), 1, out=out).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_no_dimension_is_all_of_them(name: str, real_torch_or_none: Any) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        x = t.tensor([[1.0, 5.0], [3.0, 5.0]])
        want = x.max() if name == "amax" else x.min()
        assert getattr(t, name)(x, dim=None) == getattr(x, name)(None) == want
        assert getattr(x, name)(dim=None, keepdim=True).shape == (1, 1)


def test_logsumexp_sums_in_the_dtype_of_a_wider_out(real_torch: Any) -> None:
    values = np.linspace(-3, 3, 7)
    got, want = (
        t.logsumexp(t.from_numpy(values).to(t.bfloat16), 0, out=t.empty((), dtype=t.float64)).item()
        for t in (reftorch, real_torch)
    )
    assert got == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("p", [float("inf"), -float("inf"), 0, 1, 2, 3])
def test_norms_of_rows_of_any_length(p: float, dtype: str) -> None:
    """Rows of 16, 32 and more elements go through lanes, and what they leave over does not."""
    random = np.random.default_rng(5)
    for n in (1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100, 700, 2048, 3001):
        x = reftorch.from_numpy(random.standard_normal(n) + 0.1).to(getattr(reftorch, dtype))
        want = np.linalg.norm(x.double().numpy(), p)
        assert reftorch.linalg.vector_norm(x, p).item() == pytest.approx(
            want, rel=2e-2 if dtype == "bfloat16" else 2e-3
        )
        assert x.norm(p).item() == reftorch.linalg.vector_norm(x, p).item()
        if abs(p) == float("inf"):
            x[n // 2] = float("nan")
            assert x.norm(p).isnan()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_sums_of_small_integers_do_not_overflow(dtype: str) -> None:
    """They are widened one by one: no sum is taken in the dtype of the elements."""
    x = reftorch.full((300, 700), 1 if dtype == "bool" else 100, dtype=getattr(reftorch, dtype))
    one = int(x[0, 0])
    assert x.sum().item() == 210_000 * one and x.sum().dtype == reftorch.int64
    assert x.sum(0).tolist() == [300 * one] * 700 and x.sum(1).tolist() == [700 * one] * 300
    assert x[:, ::2].sum().item() == 105_000 * one and x.t().sum(0, dtype=reftorch.int64).tolist() == [700 * one] * 300
    assert x.count_nonzero().item() == 210_000


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("columns", [1, 7, 8, 128, 129, 300])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_of_columns_are_those_of_rows(name: str, columns: int, dtype: str) -> None:
    """A line of neighbours, a few lines side by side and many: each has a loop of its own."""
    reftorch.manual_seed(columns)
    x = (reftorch.rand(2, 40, columns) * 3).to(getattr(reftorch, dtype))
    scan = getattr(reftorch, name)
    want = scan(x.transpose(1, 2).contiguous(), 2).transpose(1, 2)
    assert scan(x, 1).equal(want)
    if want.dtype == x.dtype:
        assert getattr(x, f"{name}_")(1).equal(want)
