"""Places named by indices and masks.

Mirrors: test/test_indexing.py, test/test_scatter_gather_ops.py
"""

import math
import warnings
from types import ModuleType

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, assert_same_gradients, numbers


def x(t):
    return numbers(t, 4, 3, 5)


def i(t, *values):
    return t.tensor(values)


def mask(t, *shape, start=0):
    return numbers(t, *shape, dtype="bool", start=start)


def put(t, index, value):
    result = t.zeros(3, 2)
    result[index] = value
    return result


RESULTS: dict[str, Program] = {
    "index_add of integers by a float": lambda t: t.zeros(3, dtype=t.int32).index_add(
        0, i(t, 0, 2), t.ones(2, dtype=t.int32), alpha=2.5
    ),
    "one index": lambda t: x(t)[i(t, 3, 0, -1)],
    "second dimension": lambda t: x(t)[:, i(t, 2, 0)],
    "last dimension": lambda t: x(t)[..., i(t, 4, -5, 0)],
    "2-d index": lambda t: x(t)[t.tensor([[0, 1], [2, 3]])],
    "0-d index": lambda t: x(t)[t.tensor(2)],
    "int32 index": lambda t: x(t)[i(t, 1, 2).to(t.int32)],
    "two side by side": lambda t: x(t)[i(t, 0, 3), i(t, 1, 2)],
    "two apart": lambda t: x(t)[i(t, 0, 3), :, i(t, 1, 2)],
    "two last": lambda t: x(t)[:, i(t, 0, 2), i(t, 1, 2)],
    "broadcast": lambda t: x(t)[t.tensor([[0], [3]]), i(t, 1, 2, 0)],
    "all": lambda t: x(t)[i(t, 1), i(t, 2), i(t, 3)],
    "mask": lambda t: x(t)[mask(t, 4, 3)],
    "mask of one dimension": lambda t: x(t)[:, mask(t, 3)],
    "full mask": lambda t: x(t)[mask(t, 4, 3, 5)],
    "mask and index": lambda t: x(t)[mask(t, 4), :, i(t, 1, 2)],
    "mask of nothing": lambda t: x(t)[t.zeros(4, dtype=t.bool)],
    "empty index": lambda t: x(t)[t.tensor([], dtype=t.int64)],
    "places out of range of nothing": lambda t: [
        t.zeros(1, 4, 0)[i(t, 5), i(t, 9, -9)],
        t.zeros(1, 0)[i(t, 5)],
        t.zeros(1, 4, 0).index_put((i(t, 5), i(t, 9)), t.zeros(1, 0)),
    ],
    "list": lambda t: x(t)[[0, 2]],
    "with a slice": lambda t: x(t)[1:, i(t, 0, 2), ::2],
    "with a number": lambda t: x(t)[1, i(t, 0, 2)],
    "with None": lambda t: x(t)[None, i(t, 0, 2)],
    "of a transposed tensor": lambda t: numbers(t, 3, 4).t()[i(t, 2, 0)],
    "dtypes": lambda t: [
        numbers(t, 4, 2, dtype=d)[i(t, 3, 1)] for d in ("bool", "uint8", "int16", "bfloat16", "float64")
    ],
    "gather": lambda t: [
        t.gather(numbers(t, 3, 4), 0, t.tensor([[0, 1, 2, 0], [2, 2, 1, 1]])),
        numbers(t, 3, 4).gather(1, t.tensor([[0], [3], [1]])),
    ],
    "gather scalar": lambda t: t.gather(numbers(t), 0, t.tensor(0)),
    "gather transposed": lambda t: numbers(t, 4, 3).t().gather(1, t.tensor([[0, 3], [1, 1], [2, 0]])),
    "gather empty": lambda t: numbers(t, 3, 4).gather(0, t.zeros(0, 4, dtype=t.int64)),
    "scatter": lambda t: t.zeros(3, 4).scatter(0, t.tensor([[2, 0, 1, 2]]), numbers(t, 1, 4)),
    "scatter of a number": lambda t: t.tensor(1.0).scatter(0, t.tensor([0]), t.tensor(5.0)),
    "scatter value": lambda t: t.zeros(3, 4).scatter(1, t.tensor([[2], [0], [3]]), 5),
    "scatter larger src": lambda t: t.zeros(3, 4).scatter(0, t.tensor([[2, 0]]), numbers(t, 3, 4)),
    "scatter_": lambda t: t.ones(3, 4, dtype=t.int32).scatter_(1, t.tensor([[2], [0], [3]]), 5),
    "scatter_add": lambda t: t.ones(3).scatter_add(0, i(t, 0, 2, 0, 0), numbers(t, 4)),
    "scatter_add_": lambda t: t.ones(2, 3, dtype=t.float64).scatter_add_(
        1, t.tensor([[0, 0, 2], [1, 1, 1]]), numbers(t, 2, 3, dtype="float64")
    ),
    "scatter out": lambda t: t.scatter(t.zeros(3), 0, i(t, 1), 2, out=t.empty(3)),
    "index_select": lambda t: [t.index_select(x(t), d, i(t, 2, 0, 2)) for d in (0, 1, -1)],
    "index_select scalar": lambda t: numbers(t).index_select(0, t.tensor(0)),
    "index_add": lambda t: t.ones(3, 2).index_add(0, i(t, 0, 2, 0), numbers(t, 3, 2), alpha=2),
    "index_add_": lambda t: t.ones(2, 4, dtype=t.int64).index_add_(1, i(t, 3, 3), numbers(t, 2, 2, dtype="int64")),
    "take_along_dim": lambda t: [
        t.take_along_dim(numbers(t, 3, 4), t.tensor([[0], [1], [2]]), 1),
        t.take_along_dim(numbers(t, 3, 4), i(t, 5, 0)),
    ],
    "masked_fill": lambda t: [
        numbers(t, 2, 3).masked_fill(mask(t, 3), 9),
        numbers(t, 3).masked_fill(mask(t, 2, 3), -1),
    ],
    "masked_fill tensor": lambda t: numbers(t, 2, 3, dtype="int32").masked_fill(mask(t, 2, 3), t.tensor(7)),
    "masked_fill_": lambda t: numbers(t, 2, 3).t().masked_fill_(mask(t, 3, 2), float("-inf")),
    "masked_select": lambda t: [numbers(t, 2, 3).masked_select(mask(t, 3)), numbers(t).masked_select(t.tensor(True))],
    "nonzero": lambda t: [
        t.nonzero(numbers(t, 3, 4, dtype="int32")),
        t.nonzero(t.zeros(2)),
        t.nonzero(t.tensor(3.0)),
        numbers(t, 2, 5, dtype="bool").t().nonzero(),
    ],
    "index_put": lambda t: t.zeros(4, 3).index_put((i(t, 1, 3),), numbers(t, 2, 3)),
    "index_put accumulate": lambda t: t.ones(4).index_put((i(t, 1, 1, 2),), numbers(t, 3), accumulate=True),
    "index_put_ broadcast": lambda t: t.zeros(4, 3, 5).index_put_((i(t, 1, 3), i(t, 0, 2)), numbers(t, 5)),
    "bytes": lambda t: t.arange(3.0)[t.tensor([1, 0, 1], dtype=t.uint8)],
    "put by bytes": lambda t: put(t, t.tensor([1, 0, 1], dtype=t.uint8), t.ones(2)),
    "gather nothing": lambda t: t.arange(3.0).gather(0, t.empty(0, dtype=t.uint8)),
    "nonzero_static": lambda t: [t.nonzero_static(mask(t, 2, 3), size=n, fill_value=-7) for n in (0, 1, 9)],
}


def assignment(change):
    def program(t):
        y = x(t)
        change(t, y)
        return y

    return program


def _set_index(t, y):
    y[i(t, 0, 2)] = 7


def _set_mask(t, y):
    y[mask(t, 4, 3, 5)] = numbers(t, 60).mean()


def _set_apart(t, y):
    y[i(t, 0, 3), :, i(t, 1, 2)] = numbers(t, 2, 3)


def _set_row(t, y):
    y[1] = numbers(t, 5)


def _set_self(t, y):
    y[i(t, 0, 1)] = y[i(t, 2, 3)]


def _add(t, y):
    y[:, i(t, 0, 2)] += 1


# PyTorch lets these three write an expanded tensor, and warns that it will not for ever.
EXPANDED: dict[str, Program] = {
    "masked_fill_": lambda t: t.zeros(3, 1).expand(3, 4).masked_fill_(mask(t, 4, start=1), 7),
    "masked_fill_ of rows": lambda t: t.zeros(3, 1, 2).expand(3, 4, 2).masked_fill_(mask(t, 3, 1, 2), 7),
    "masked_fill_ by nothing": lambda t: t.zeros(1).expand(3).masked_fill_(t.zeros(3, dtype=t.bool), 7),
    "index_fill_": lambda t: t.zeros(1).expand(3).index_fill_(0, i(t, 1), 7),
    "index_put_": lambda t: t.zeros(1).expand(3).index_put_((i(t, 1),), t.tensor(7.0)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_is_written_with_a_warning(name: str, real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.warns(UserWarning, match="on expanded tensors is deprecated. Please clone()"):
            EXPANDED[name](library)
    if real_torch_or_none is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_same(EXPANDED[name], real_torch_or_none)


RESULTS |= {f.__name__: assignment(f) for f in (_set_index, _set_mask, _set_apart, _set_row, _set_self, _add)}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


ERRORS: dict[str, Program] = {
    "too large": lambda t: x(t)[i(t, 4)],
    "too small": lambda t: x(t)[i(t, -5)],
    "second dimension": lambda t: x(t)[:, i(t, 3)],
    "float index": lambda t: x(t)[t.tensor([0.0])],
    "too many": lambda t: x(t)[i(t, 0), i(t, 0), i(t, 0), i(t, 0)],
    "mask shape": lambda t: x(t)[mask(t, 3)],
    "mask shape 2": lambda t: x(t)[mask(t, 4, 4)],
    "do not broadcast": lambda t: x(t)[i(t, 0, 1), i(t, 0, 1, 2)],
    "put shape": lambda t: t.zeros(4).index_put_((i(t, 0, 1),), t.zeros(3)),
    "put shape before range": lambda t: t.zeros(1, 3).index_put_((i(t, 2), i(t, 0)), t.zeros(0, 3)),
    "put dtype before range": lambda t: t.zeros(1, 3).index_put_((i(t, 2), i(t, 0)), t.zeros(1).double()),
    "pick from a dimension of size 0": lambda t: t.zeros(0, 3, 0)[i(t, 0), i(t, 0)],
    "put dtype": lambda t: t.zeros(4).index_put_((i(t, 0, 1),), t.zeros(2, dtype=t.int64)),
    "gather range": lambda t: numbers(t, 3).gather(0, i(t, 3)),
    "gather negative": lambda t: numbers(t, 3).gather(0, i(t, -1)),
    "gather dtype": lambda t: numbers(t, 3).gather(0, t.tensor([0.0])),
    "gather dims": lambda t: numbers(t, 3, 3).gather(0, i(t, 0)),
    "gather size": lambda t: numbers(t, 3, 3).gather(0, t.zeros(1, 4, dtype=t.int64)),
    "scatter of one from none": lambda t: t.zeros(3).scatter(0, t.tensor(1), t.zeros(0)),
    "scatter_add of one from none": lambda t: t.zeros(3).scatter_add(0, t.tensor(1), t.zeros(0)),
    "scatter dtype": lambda t: t.zeros(3).scatter(0, i(t, 0), t.zeros(1, dtype=t.float64)),
    "scatter range": lambda t: t.zeros(3).scatter(0, i(t, 5), 1.0),
    "scatter src size": lambda t: t.zeros(3).scatter(0, i(t, 0, 1), t.zeros(1)),
    "index_select range": lambda t: numbers(t, 3).index_select(0, i(t, 3)),
    "index_select dims": lambda t: numbers(t, 3).index_select(0, t.zeros(1, 1, dtype=t.int64)),
    "index_select dtype": lambda t: numbers(t, 3).index_select(0, t.tensor([0.0])),
    "index_select dim first": lambda t: numbers(t, 3).index_select(5, t.zeros(1, 1)),
    "index_select scalar first": lambda t: numbers(t).index_select(0, t.tensor([0.0, 1.0])),
    "index_select dtype of out": lambda t: t.index_select(
        x(t), 0, i(t, 9), out=t.ones(2, 3, 5, dtype=t.float64).expand(2, 3, 5)
    ),
    "index_select into itself": lambda t: (lambda a: t.index_select(a, 0, i(t, 9), out=a))(x(t)),
    "index_add length": lambda t: t.zeros(3).index_add(0, i(t, 0), t.zeros(2)),
    "index_add dtype": lambda t: t.zeros(3).index_add(0, i(t, 0), t.zeros(1, dtype=t.float64)),
    "masked_fill dtype": lambda t: t.zeros(3).masked_fill(i(t, 1, 0, 1), 1),
    "masked_fill value": lambda t: t.zeros(3).masked_fill(mask(t, 3), t.zeros(2)),
    "masked_fill shape": lambda t: t.zeros(3).masked_fill(mask(t, 4), 1),
    "masked_select dtype": lambda t: t.zeros(3).masked_select(i(t, 1, 0, 1)),
    "put one number by bytes": lambda t: put(t, t.tensor([1, 0, 1], dtype=t.uint8), 5),
    "put one number by bytes of a dimension": lambda t: put(
        t, (slice(None), t.tensor([1, 0], dtype=t.uint8)), t.ones(1)
    ),
    "nonzero_static of a negative size": lambda t: t.nonzero_static(x(t), size=-1),
    "select into an expanded tensor": lambda t: t.index_select(x(t), 0, i(t, 0, 1), out=t.ones(5).expand(2, 3, 5)),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


GRADIENTS = {
    "index": (lambda t, a: a[i(t, 2, 0, 2)], (3, 4)),
    "index apart": (lambda t, a: a[i(t, 0, 1), :, i(t, 1, 1)], (2, 3, 2)),
    "mask": (lambda t, a: a[mask(t, 3, 4)], (3, 4)),
    "index_put": (lambda t, a, b: a.index_put((i(t, 1, 2),), b), (3, 4), (2, 4)),
    "index_put by bytes": (
        lambda t, a, b: a.index_put((t.tensor([1, 0, 1], dtype=t.uint8),), b.reshape(2, 4)),
        (3, 4),
        (2, 4),
    ),
    "index_put broadcast": (lambda t, a, b: a.index_put((i(t, 1, 2),), b), (3, 4), (4,)),
    "index_put accumulate": (lambda t, a, b: a.index_put((i(t, 1, 1),), b, accumulate=True), (3, 4), (2, 4)),
    "gather": (lambda t, a: a.gather(1, t.tensor([[0, 0], [1, 3], [2, 2]])), (3, 4)),
    "scatter": (lambda t, a, b: a.scatter(1, t.tensor([[0], [3], [2]]), b), (3, 4), (3, 1)),
    "scatter value": (lambda t, a: a.scatter(1, t.tensor([[0], [3], [2]]), 2.0), (3, 4)),
    "scatter_add": (lambda t, a, b: a.scatter_add(0, i(t, 0, 0, 2), b), (3,), (3,)),
    "index_select": (lambda t, a: a.index_select(1, i(t, 3, 0, 3)), (2, 4)),
    "index_add": (lambda t, a, b: a.index_add(0, i(t, 0, 0), b, alpha=3), (3, 2), (2, 2)),
    "masked_fill": (lambda t, a: a.masked_fill(mask(t, 3), 2), (2, 3)),
    "masked_fill tensor": (lambda t, a, b: a.masked_fill(mask(t, 2, 3), b), (2, 3), ()),
    "masked_select": (lambda t, a: a.masked_select(mask(t, 2, 3)), (3,)),
    "take_along_dim": (lambda t, a: t.take_along_dim(a, t.tensor([[0], [1]]), 1), (2, 3)),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name: str, real_torch: ModuleType) -> None:
    program, *shapes = GRADIENTS[name]
    assert_same_gradients(program, real_torch, *shapes)


def test_assignment_gradient(real_torch: ModuleType) -> None:
    def program(t, a, b):
        c = a * 2
        c[i(t, 0, 2)] = b
        return c * c

    assert_same_gradients(program, real_torch, (3, 2), (2, 2))


def test_two_zeros_in_one_product(real_torch: ModuleType) -> None:
    """The first derivative is right, a second one is refused."""
    for lib in (reftorch, real_torch):
        x, src = lib.ones(2, requires_grad=True), lib.tensor([0.0, 0.0, 3.0], requires_grad=True)
        y = x.scatter_reduce(0, lib.tensor([0, 0, 1]), src, "prod")
        (grad,) = lib.autograd.grad(y.sum(), src, create_graph=True)
        assert grad.tolist() == [0, 0, 1]
        with pytest.raises(RuntimeError, match="Double backward is unsupported for src"):
            grad.sum().backward()


def test_index_is_a_copy() -> None:
    a = reftorch.zeros(3)
    b = a[reftorch.tensor([0, 1])]
    a.fill_(1)
    assert b.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int16", "uint8", "bool"])
def test_number_through_a_mask(dtype: str) -> None:
    """A number and one mask take a short cut past the places of the elements."""
    x = (reftorch.arange(3 * 70 * 2) % 5).to(getattr(reftorch, dtype)).reshape(3, 70, 2)
    for shape in ((3,), (3, 70), (3, 70, 2)):
        mask = reftorch.arange(math.prod(shape)).reshape(shape) % 3 == 0
        rows = x.reshape(mask.numel(), -1).tolist()
        wanted = [[1] * len(row) if m else row for m, row in zip(mask.reshape(-1).tolist(), rows, strict=True)]
        for value in (1, reftorch.ones(1, dtype=x.dtype)):
            for base in (x.clone(), x.transpose(0, 2).contiguous().transpose(0, 2)):
                base[mask] = value
                assert base.reshape(mask.numel(), -1).tolist() == wanted


def test_number_through_a_mask_that_does_not_fit() -> None:
    x = reftorch.zeros(3, 2)
    with pytest.raises(IndexError, match="The shape of the mask"):
        x[reftorch.tensor([True, False])] = 1
    with pytest.raises(IndexError, match="too many indices"):
        x[reftorch.ones(3, 2, 1, dtype=reftorch.bool)] = 1
    assert x.count_nonzero() == 0
