"""Order against torch's, over every dtype and layout.

Mirrors: test/test_sort_and_select.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.checks import assert_same, check_error
from tests.op_db.core import FLOATS, INTEGERS
from tests.op_db.suite import OpTests

# Both warn where they copy.
pytestmark = pytest.mark.filterwarnings("ignore:torch.searchsorted")


class TestRows(OpTests):
    FAMILIES = "sorting quantile unique bucketization summary_ops"


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_long_rows_are_sorted_as_short_ones(dtype: str, descending: bool) -> None:
    """Rows from 1024 elements on are sorted by radix, shorter ones by comparison: both stable."""
    random = np.random.default_rng(3)
    values = random.integers(-50, 50, 3000).clip(0 if dtype == "uint8" else -50)
    x = reftorch.from_numpy(values).to(getattr(reftorch, dtype))
    if x.is_floating_point():
        x = x * 0.25
        x[::100] = float("nan")
        x[1::100] = -0.0
        x[2::100] = float("inf")
        x[3::100] = -float("inf")
    got = x.sort(stable=True, descending=descending)
    keys = x.double().numpy() if x.is_floating_point() else values
    keys = np.where(np.isnan(keys), np.inf, keys), np.isnan(keys)
    order = np.lexsort((np.arange(3000), *((-keys[0], ~keys[1]) if descending else keys)))
    assert got.indices.tolist() == order.tolist()
    assert str(got.values.tolist()) == str(x[got.indices].tolist())


@pytest.mark.parametrize("size", [1, 2, 7, 15, 16, 100, 2000])
@pytest.mark.parametrize("spread", [3, 5000, 2**31, 2**62])
def test_integers_of_any_range_are_sorted(size: int, spread: int) -> None:
    """By insertion, by key, and by radix with as many digits as the range has."""
    values = np.random.default_rng(size).integers(-spread, spread, size)
    x = reftorch.from_numpy(values)
    for descending in (False, True):
        got = x.sort(stable=True, descending=descending)
        order = np.argsort(-values if descending else values, kind="stable")
        assert got.indices.tolist() == order.tolist() and got.values.tolist() == values[order].tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_median_is_that_of_a_stable_sort(dtype: str) -> None:
    random = np.random.default_rng(4)
    for size in (1, 2, 9, 10, 501):
        x = reftorch.from_numpy(random.integers(0, max(2, size // 3), size)).to(getattr(reftorch, dtype))
        order = x.sort(stable=True)
        middle = (size - 1) // 2
        assert x.median(0).indices == order.indices[middle] and x.median() == order.values[middle]
        if x.is_floating_point():
            x[size // 2] = float("nan")
            numbers = size - 1
            got = x.nanmedian(0)
            if numbers:
                order = x.sort(stable=True)  # NaN comes last
                assert got.indices == order.indices[(numbers - 1) // 2]
            assert x.median(0).indices == size // 2


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "uint8"])
def test_topk_takes_torchs_of_equal_elements(dtype: str, real_torch: Any) -> None:
    """On both ways, by a heap and by a partition, with many equals, both zeros, infinities and NaN."""
    random = np.random.default_rng(8)
    for size in (1, 5, 64, 200, 1000):
        numbers = random.integers(0, max(2, size // 4), size).astype(np.float64)
        if dtype.startswith(("float", "bfloat")):
            numbers = np.where(random.random(size) < 0.1, random.choice([np.nan, -0.0, np.inf, -np.inf], size), numbers)
        for k in sorted({1, size // 100 + 1, size // 7 + 1, size}):
            for largest in (True, False):

                def program(t: Any, k: int = k, largest: bool = largest, numbers: Any = numbers) -> list[list[float]]:
                    x = t.from_numpy(numbers).to(getattr(t, dtype))
                    values, indices = x.topk(k, largest=largest)
                    return [indices.tolist(), values.isnan().tolist(), values.nan_to_num(-1).tolist()]

                assert program(reftorch) == program(real_torch), (size, k, largest)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 100])
def test_bounds_in_rows_of_any_length(length: int, right: bool) -> None:
    boundaries = np.sort(np.random.default_rng(length).integers(0, 20, length)).astype(np.float32)
    values = np.arange(-1, 21, 0.5, dtype=np.float32)
    got = reftorch.searchsorted(reftorch.from_numpy(boundaries), reftorch.from_numpy(values), right=right)
    assert got.tolist() == np.searchsorted(boundaries, values, "right" if right else "left").tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
def test_unique_of_many(dtype: str) -> None:
    values = np.random.default_rng(1).integers(0, 50, 3000).astype(dtype)
    got = reftorch.unique(reftorch.from_numpy(values), return_inverse=True, return_counts=True)
    for mine, want in zip(got, np.unique(values, return_inverse=True, return_counts=True), strict=True):
        assert mine.tolist() == want.tolist()


@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_unique(name: str, dim: Any, real_torch: Any) -> None:
    def results(lib: Any) -> Any:
        x = lib.tensor([[2, 1, 1], [2, 1, 1], [0, 3, 3]])
        for inverse in (False, True):
            for counts in (False, True):
                options = {"return_inverse": inverse, "return_counts": counts, "dim": dim}
                yield getattr(lib, name)(x, **options)
                yield getattr(x, name)(**options)

    for got, want in zip(results(reftorch), results(real_torch), strict=True):
        assert_same(got, want, name)


ERRORS = [
    (lambda t: t.ones(3).topk(4), RuntimeError, "selected index k out of range"),
    (lambda t: t.tensor([True]).topk(1), RuntimeError, "topk does not support bool dtypes on CPU"),
    (lambda t: t.ones(3).kthvalue(0), RuntimeError, "kthvalue(): selected number k out of range for dimension 0"),
    (lambda t: t.ones(2, 0).kthvalue(1), IndexError, "kthvalue(): Expected reduction dim 1 to have non-zero size."),
    (lambda t: t.ones(0).mode(), IndexError, "mode(): Expected reduction dim 0 to have non-zero size."),
    (lambda t: t.ones(2, 0).median(1), IndexError, "median(): Expected reduction dim 1 to have non-zero size."),
    (lambda t: t.tensor([True]).median(), NotImplementedError, "\"median_cpu\" not implemented for 'Bool'"),
    (lambda t: t.ones(3).quantile(1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"),
    (lambda t: t.ones(0).quantile(0.5), RuntimeError, "quantile() input tensor must be non-empty"),
    (lambda t: t.ones(3).half().quantile(0.5), RuntimeError, "quantile() input tensor must be either float or double"),
    (
        lambda t: t.ones(3).quantile(0.5, interpolation="cubic"),
        RuntimeError,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got cubic",
    ),
    (lambda t: t.ones(3).long().bincount(minlength=-1), RuntimeError, "minlength should be >= 0"),
    (lambda t: t.tensor([-1]).bincount(), RuntimeError, "bincount only supports 1-d non-negative integral inputs."),
    (lambda t: t.ones(3).histc(0), RuntimeError, "torch.histogram(): bins must be > 0, but got 0 for dimension 0"),
    (lambda t: t.ones(3).histc(3, 2, 1), RuntimeError, "torch.histc: max must be larger than min"),
    (
        lambda t: t.searchsorted(t.ones(2, 2), t.ones(3)),
        RuntimeError,
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions",
    ),
    (
        lambda t: t.searchsorted(t.ones(2), t.ones(3), side="left", right=True),
        RuntimeError,
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


@pytest.mark.parametrize("name", ["sort", "topk"])
def test_values_are_written_onto_what_is_sorted(name: str, real_torch_or_none: Any) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        x, indices = t.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]), t.empty(0, dtype=t.int64)
        if name == "sort":
            t.sort(x, 1, True, out=(x, indices))
        else:
            t.topk(x, 3, out=(x, indices))
        assert x.tolist() == [[3, 2, 1], [6, 5, 4]]
        assert indices.tolist() == [[0, 2, 1], [1, 2, 0]]


def test_a_copy_in_a_search_is_warned_of() -> None:
    """torch warns of the first one only."""
    wide = reftorch.arange(12.0).reshape(4, 3)
    with pytest.warns(UserWarning, match="input value tensor is non-contiguous"):
        assert reftorch.searchsorted(reftorch.tensor([1.0, 4.0]), wide.t()).shape == (3, 4)


def test_nan_is_a_mode_as_often_as_it_is_there(real_torch_or_none: Any) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        values, places = t.tensor([[float("nan"), 1.0, 2.0], [3.0, float("nan"), 3.0]]).mode()
        assert values.isnan().tolist() == [True, False] and values[1].item() == 3 and places[0].item() == 0
